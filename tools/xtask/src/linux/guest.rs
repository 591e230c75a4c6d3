//! A guest: a boot of Linux with a job.
//!
//! The job is a shell script in an archive of its own, behind the one with Debian's packages; tools/qemu-v3d/guest/init runs it. All that comes back comes over
//! the serial console: lines with `###` in front tell parts, statuses and files.

use super::archive::Archive;
use super::install::System;
use super::libraries::Libraries;
use super::window_system;
use crate::build;
use crate::far_end::qemu::{Lens, control_socket};
use crate::interrupt;
use crate::picture::Picture;
use crate::setup;
use crate::watchdog::Watchdog;
use crate::workspace::Workspace;
use anyhow::{Context, Result, bail, ensure};
use data_encoding::BASE64;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// How long a guest may say nothing.
const SILENCE: Duration = Duration::from_secs(300);
/// Between two looks for an interruption.
const GLANCE: Duration = Duration::from_millis(200);
/// What stands before the lines of the guest's first process.
const MARK: &str = "### ";
/// What stands before the name of a picture of the screen, for which the guest waits.
const SCREEN_MARK: &str = "### screen ";

/// The console is the second serial port. Linux need not look every ten seconds whether there is still a screen.
const COMMAND_LINE: &str =
    "console=ttyS1,115200 deferred_probe_timeout=1 cryptomgr.notests=1 drm_kms_helper.poll=0 panic=-1";
/// Without these words, Linux shows a text console on the display.
const NO_TEXT: &str = "drm_kms_helper.fbdev_emulation=0";

/// Where processors sleep that Linux does not use: within the page that the device tree reserves, behind QEMU's own boot code. Else they wait busily.
const BED: u32 = 0xf00;
/// `wfi`, and a branch back to it.
const SLEEP: u64 = 0x17ff_ffff_d503_207f;

/// Options of the plugin.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Plugin {
    /// The folder for each job.
    pub(super) capture: Option<PathBuf>,
    /// Only jobs in which the model finds faults are captured.
    pub(super) faulty_alone: bool,
    /// The file for register accesses.
    pub(super) trace: Option<PathBuf>,
    /// The mode that the screen prefers, or `off`; the plugin's own choice if absent.
    pub(super) display: Option<String>,
}

/// What the user sees of the console.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shown {
    /// All but the contents of files.
    Everything,
    /// Nothing.
    Nothing,
}

/// Boots with the same system.
pub(super) struct Guest<'a> {
    pub(super) workspace: &'a Workspace,
    pub(super) system: &'a System,
    pub(super) cpus: u32,
    /// Linux shows a text console on the display.
    pub(super) text: bool,
    /// QEMU shows its window.
    pub(super) window: bool,
    /// The guest has Weston.
    pub(super) window_system: bool,
}

/// A named part of a job.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct JobStep {
    pub(super) name: String,
    pub(super) lines: Vec<String>,
    /// `None` if it has not ended.
    pub(super) status: Option<i32>,
}

impl JobStep {
    pub(super) fn status_text(&self) -> String {
        self.status.map_or_else(|| "none".to_owned(), |status| status.to_string())
    }
}

/// What a guest has left.
#[derive(Clone, Debug, Default)]
pub(super) struct Outcome {
    pub(super) parts: Vec<JobStep>,
    /// Files by their names in /out.
    pub(super) files: Vec<(String, Vec<u8>)>,
    /// The console without files.
    pub(super) log: String,
    /// What the model found.
    pub(super) faults: String,
    /// From the start of QEMU to the first part.
    pub(super) boot: Duration,
}

impl Outcome {
    /// Writes files, the console and faults into a folder, and says what they are.
    pub(super) fn save(&self, folder: &Path) -> Result<()> {
        let write = |name: &str, bytes: &[u8]| {
            let path = folder.join(name);
            let parent = path.parent().unwrap_or(folder);
            fs::create_dir_all(parent).with_context(|| format!("cannot create {}", parent.display()))?;
            crate::whole_file::write(&path, bytes)
        };
        write("console.log", self.log.as_bytes())?;
        for (name, bytes) in &self.files {
            match name.strip_suffix(".ppm") {
                Some(stem) => Picture::from_ppm(bytes)?.write_png(&prepared(folder, stem)?)?,
                None => write(name, bytes)?,
            }
        }
        if !self.faults.is_empty() {
            write("faults.txt", self.faults.as_bytes())?;
            eprintln!("the model has found faults: {}", folder.join("faults.txt").display());
        }
        eprintln!("{} files and the console are in {}", self.files.len(), folder.display());
        Ok(())
    }

    /// A part by its name.
    pub(super) fn part(&self, name: &str) -> Result<&JobStep> {
        self.parts.iter().find(|part| part.name == name).with_context(|| format!("the guest has not come to {name}"))
    }
}

/// The path of a picture in a folder, which is created.
fn prepared(folder: &Path, stem: &str) -> Result<PathBuf> {
    let path = folder.join(format!("{stem}.png"));
    fs::create_dir_all(path.parent().unwrap_or(folder))?;
    Ok(path)
}

/// Words as the guest's shell reads them.
pub(super) fn quoted(words: &[String]) -> String {
    let quote = |word: &String| format!("'{}'", word.replace('\'', r"'\''"));
    words.iter().map(quote).collect::<Vec<_>>().join(" ")
}

impl Guest<'_> {
    /// QEMU with the V3D, and the two archives as one file.
    fn command(&self, plugin: &Plugin, files: &[PathBuf], job: &str, scratch: &Path) -> Result<Command> {
        let library = build::plugin(self.workspace)?;
        let initial = scratch.join("initial.cpio");
        let system = &self.system.archive;
        let mut both = fs::read(system).with_context(|| format!("cannot read {}", system.display()))?;
        both.extend(self.archive(files, job)?);
        fs::write(&initial, both).with_context(|| format!("cannot write {}", initial.display()))?;
        let mut command = Command::new(setup::qemu_program());
        command.args(["-M", "raspi3b", "-no-reboot", "-serial", "null"]);
        if !self.window {
            command.args(["-display", "none"]);
        }
        command.arg("-kernel").arg(&self.system.kernel).arg("-dtb").arg(&self.system.device_tree);
        command.arg("-initrd").arg(&initial);
        let text = if self.text { "" } else { NO_TEXT };
        command.arg("-append").arg(format!("{COMMAND_LINE} maxcpus={} {text}", self.cpus));
        if self.cpus == 1 {
            command.arg("-device").arg(format!("loader,addr={BED:#x},data={SLEEP:#x},data-len=8"));
            for core in 1..=3 {
                command.arg("-device").arg(format!("loader,addr={BED:#x},cpu-num={core}"));
            }
        }
        let mut argument = format!("{},faults={}", library.display(), scratch.join("faults").display());
        if let Some(folder) = &plugin.capture {
            argument += &format!(",capture={}", folder.display());
            argument += if plugin.faulty_alone { ",captured=faulty" } else { "" };
        }
        if let Some(file) = &plugin.trace {
            argument += &format!(",trace={}", file.display());
        }
        if let Some(mode) = &plugin.display {
            argument += &format!(",display={mode}");
        }
        command.arg("-plugin").arg(argument);
        Ok(command)
    }

    /// The archive with the first process, the job, and programs with what they need.
    fn archive(&self, files: &[PathBuf], job: &str) -> Result<Vec<u8>> {
        let mut archive = Archive::default();
        archive.copy("init", &self.workspace.root.join("tools/qemu-v3d/guest/init"))?;
        archive.file("job", job.as_bytes());
        let mut libraries = Libraries::read(&self.system.folder)?;
        if self.window_system {
            window_system::add(self.workspace, &self.system.root, &mut libraries, &mut archive)?;
        }
        for path in files {
            let bytes = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
            let name = path.file_name().with_context(|| format!("{} has no name", path.display()))?;
            archive.file(&format!("usr/bin/{}", name.to_string_lossy()), &bytes);
            if bytes.starts_with(b"\x7fELF") {
                libraries.needed_by(&self.system.root, &bytes, &mut archive)?;
            }
            // A program of Debian's packages may have data: that of glmark2-es2-drm is in a folder glmark2.
            let name = name.to_string_lossy();
            let data = Path::new("usr/share").join(name.split('-').next().unwrap_or(&name));
            if path.starts_with(&self.system.root) && self.system.root.join(&data).is_dir() {
                archive.tree(&self.system.root, &data)?;
            }
        }
        Ok(archive.finish())
    }

    /// Boots, and gives the console to the user.
    pub(super) fn shell(&self, plugin: &Plugin, files: &[PathBuf]) -> Result<()> {
        let scratch = self.workspace.scratch()?;
        let mut command = self.command(plugin, files, "setsid cttyhack sh\n", scratch.path())?;
        eprintln!("==> booting; Ctrl-A X ends QEMU");
        let status = command.args(["-serial", "mon:stdio"]).status().context("QEMU cannot be started")?;
        let faults = fs::read_to_string(scratch.path().join("faults")).unwrap_or_default();
        eprint!("{faults}");
        ensure!(status.success(), "QEMU ended with {status}");
        Ok(())
    }

    /// Boots, runs a job to its end, and ends the machine.
    pub(super) fn run(&self, plugin: &Plugin, files: &[PathBuf], job: &str, shown: Shown) -> Result<Outcome> {
        let scratch = self.workspace.scratch()?;
        let mut command = self.command(plugin, files, job, scratch.path())?;
        command.args(["-monitor", "none", "-serial", "stdio"]).stdin(Stdio::piped()).stdout(Stdio::piped());
        command.args(control_socket(scratch.path())?);
        let start = Instant::now();
        let mut machine = Machine::start(&mut command)?;
        let answers = machine.process.stdin.take().context("QEMU has no input")?;
        let mut screen = Screen { lens: Lens::new(scratch.path()), answers };
        let output = machine.process.stdout.take().context("QEMU has no console")?;
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            // The guest's text may be anything.
            for line in BufReader::new(output).split(b'\n').map_while(Result::ok) {
                if sender.send(String::from_utf8_lossy(&line).trim_end_matches('\r').to_owned()).is_err() {
                    return;
                }
            }
        });
        let mut transcript = Transcript { shown, start, ..Transcript::new() };
        follow(&lines, &mut transcript, &mut screen)?;
        drop(machine);
        let mut outcome = transcript.outcome;
        outcome.faults = fs::read_to_string(scratch.path().join("faults")).unwrap_or_default();
        Ok(outcome)
    }
}

/// Takes lines until the job has ended.
fn follow(lines: &Receiver<String>, transcript: &mut Transcript, screen: &mut Screen) -> Result<()> {
    let mut last = Instant::now();
    loop {
        interrupt::check()?;
        match lines.recv_timeout(GLANCE) {
            Ok(line) => {
                last = Instant::now();
                if let Some(name) = line.strip_prefix(SCREEN_MARK) {
                    transcript.outcome.files.extend(screen.take(name)?);
                } else if transcript.take(&line)? {
                    return Ok(());
                }
            }
            Err(RecvTimeoutError::Timeout) if last.elapsed() < SILENCE => {}
            Err(RecvTimeoutError::Timeout) => {
                bail!("the guest has said nothing for {} s; its last lines: {}", SILENCE.as_secs(), transcript.end())
            }
            Err(RecvTimeoutError::Disconnected) => {
                bail!("QEMU has ended before the job; the guest's last lines: {}", transcript.end())
            }
        }
    }
}

/// Takes pictures of the screen when the guest asks for them, and tells it that they are taken.
struct Screen {
    lens: Lens,
    /// The guest's standard input.
    answers: ChildStdin,
}

impl Screen {
    /// A picture of the screen as a file of this name; none if the screen is dark.
    fn take(&mut self, name: &str) -> Result<Option<(String, Vec<u8>)>> {
        let bytes = self.lens.ppm()?;
        self.answers.write_all(b"\n").and_then(|()| self.answers.flush()).context("QEMU takes no input")?;
        let is_dark = Picture::from_ppm(&bytes)?.pixels.iter().all(|pixel| *pixel == [0; 3]);
        Ok((!is_dark).then(|| (format!("{name}.ppm"), bytes)))
    }
}

/// A QEMU process, which is killed when this value is dropped.
struct Machine {
    process: Child,
    watchdog: Watchdog,
}

impl Machine {
    fn start(command: &mut Command) -> Result<Self> {
        let mut process = command.spawn().context("QEMU cannot be started")?;
        match Watchdog::over(process.id()) {
            Ok(watchdog) => Ok(Self { process, watchdog }),
            Err(error) => {
                // Fails only if QEMU has already ended.
                let _ = process.kill();
                let _ = process.wait();
                Err(error)
            }
        }
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        // Fails only if QEMU has already ended.
        let _ = self.process.kill();
        let _ = self.process.wait();
        self.watchdog.dismiss();
    }
}

/// The console's lines, as they come.
struct Transcript {
    shown: Shown,
    start: Instant,
    outcome: Outcome,
    /// The file that is being sent: name, check sum, text so far.
    file: Option<(String, String, String)>,
}

impl Transcript {
    fn new() -> Self {
        Self { shown: Shown::Nothing, start: Instant::now(), outcome: Outcome::default(), file: None }
    }

    /// Takes a line. Returns whether it was the last one.
    fn take(&mut self, line: &str) -> Result<bool> {
        if let Some((_, _, text)) = &mut self.file
            && !line.starts_with(MARK)
        {
            // Messages of the kernel may come between.
            if !line.starts_with('[') {
                text.push_str(line.trim());
            }
            return Ok(false);
        }
        self.outcome.log += &format!("{line}\n");
        let Some(order) = line.strip_prefix(MARK) else {
            if self.shown == Shown::Everything {
                println!("{line}");
            }
            ensure!(!line.contains("Kernel panic"), "Linux has given up: {}", self.end());
            if let Some(part) = self.outcome.parts.last_mut().filter(|part| part.status.is_none()) {
                part.lines.push(line.to_owned());
            }
            return Ok(false);
        };
        let words: Vec<&str> = order.split(' ').collect();
        match *words.as_slice() {
            ["part", name] => {
                if self.outcome.parts.is_empty() {
                    self.outcome.boot = self.start.elapsed();
                }
                self.outcome.parts.push(JobStep { name: name.to_owned(), ..JobStep::default() });
            }
            ["status", number] => {
                if let Some(part) = self.outcome.parts.last_mut() {
                    part.status = number.parse().ok();
                }
            }
            ["file", name, sum] => self.file = Some((name.to_owned(), sum.to_owned(), String::new())),
            ["end", "of", "file"] => {
                let (name, sum, text) = self.file.take().context("a file ends that has not begun")?;
                let bytes = unpacked(&text, &sum).with_context(|| format!("{name} has arrived damaged"))?;
                self.outcome.files.push((name, bytes));
            }
            ["end", "of", "job"] => return Ok(true),
            _ => bail!("the guest's first process says what is not known here: {line}"),
        }
        Ok(false)
    }

    /// The last lines.
    fn end(&self) -> String {
        let lines: Vec<&str> = self.outcome.log.lines().collect();
        lines[lines.len().saturating_sub(5)..].join("\n")
    }
}

/// The bytes of a file that was sent: compressed, with a check sum of that.
fn unpacked(text: &str, sum: &str) -> Result<Vec<u8>> {
    let packed = BASE64.decode(text.as_bytes())?;
    let found = format!("{:08x}", crc32fast::hash(&packed));
    ensure!(found == sum, "its check sum is {found}, and {sum} was sent");
    let mut bytes = Vec::new();
    flate2::read::GzDecoder::new(packed.as_slice()).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text `hello` and a line feed as gzip, base64 and crc32 have it.
    #[test]
    fn parts_and_files_come_out_of_the_console() {
        let text =
            ["[    1.0] vc4: up", "### part draw", "renderer VC4", "### status 3", "### file x/hello.txt 476fe445"];
        let file = [
            "H4sIAAAAAAAAA8tIzcnJ5wIA",
            "[   12.5] [drm] Resetting GPU.",
            "IDA6NgYAAAA=",
            "### end of file",
            "### end of job",
        ];
        let mut transcript = Transcript::new();
        let ends: Vec<bool> = text.iter().chain(&file).map(|line| transcript.take(line).unwrap()).collect();
        assert_eq!(ends.iter().filter(|&&end| end).count(), 1);
        let part = JobStep { name: "draw".to_owned(), lines: vec!["renderer VC4".to_owned()], status: Some(3) };
        assert_eq!(transcript.outcome.parts, [part]);
        assert_eq!(transcript.outcome.files, [("x/hello.txt".to_owned(), b"hello\n".to_vec())]);
        assert!(transcript.take("### file y 00000000").is_ok());
        assert!(transcript.take("H4sIAAAAAAAAA8tIzcnJ5wIAIDA6NgYAAAA=").is_ok());
        let error = format!("{:#}", transcript.take("### end of file").unwrap_err());
        assert!(error.starts_with("y has arrived damaged"), "{error}");
        assert!(transcript.take("[    9.9] Kernel panic - not syncing").is_err());
    }

    #[test]
    fn the_guests_shell_reads_words_as_they_are() {
        let words = ["draw", "a b", "it's"].map(str::to_owned);
        assert_eq!(quoted(&words), r"'draw' 'a b' 'it'\''s'");
    }
}
