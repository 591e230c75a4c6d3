//! The kernel's tests in QEMU: each boots a machine and controls it over the serial console.

use super::{
    Built, board, card, coherence, files_on_card, firmware, live, machines, other_kernels, report, scenes, triangle,
};
use crate::build;
use crate::capture;
use crate::far_end::qemu::{Options, Qemu};
use crate::picture::Picture;
use crate::replay;
use crate::run::{self, run_scene};
use crate::selftest::{self, Results};
use crate::workspace::Workspace;
use anyhow::{Context, Result, bail, ensure};
use std::collections::BTreeSet;
use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A step; returns a remark.
type Step = fn(&Workspace, &Built) -> Result<String>;

/// All steps by name.
pub(super) const STEPS: &[(&str, Step)] = &[
    ("QEMU: boots and answers", boots),
    ("QEMU: every query", every_question),
    ("QEMU: selftest", selftest),
    ("QEMU: triangle", triangle_gl),
    ("QEMU: triangle-nv", triangle_nv),
    ("QEMU: cube", cube),
    ("QEMU: textured-cube", scenes::textured_cube),
    ("QEMU: mirror", scenes::mirror),
    ("QEMU: model", scenes::model),
    ("QEMU: metal", scenes::metal),
    ("QEMU: shadows", scenes::shadows),
    ("QEMU: walker", scenes::walker),
    ("QEMU: water", scenes::water),
    ("QEMU: landscape", scenes::landscape),
    ("QEMU: flight", scenes::flight),
    ("QEMU: layers", scenes::layers),
    ("QEMU: multisample", scenes::multisample),
    ("QEMU: glow", scenes::glow),
    ("QEMU: bloom", scenes::bloom),
    ("QEMU: particles", scenes::particles),
    ("QEMU: ui", scenes::ui),
    ("QEMU: console", scenes::console),
    ("QEMU: breakout is played by keys", scenes::breakout),
    ("QEMU: live, a shader is sent, changed, broken and mended while it is drawn", live::written_while_drawn),
    ("QEMU: live, a model and a cube map are sent", live::model_and_cube),
    ("QEMU: live, a shader of a scene is replaced", live::shader_of_a_scene),
    ("QEMU: live, every shader of the tree has the host's words", live::same_words),
    ("QEMU: live, shaders that mean harm leave the kernel running", live::hostile_sources),
    ("QEMU: vpm", vpm),
    ("QEMU: compute", scenes::compute),
    ("QEMU: every scene", every_scene),
    ("QEMU: caches and barriers, while memory is used again", coherence::memory_is_used_again),
    ("QEMU: a program in cached memory is reported", coherence::cached_program),
    ("QEMU: a captured frame replays", capture_replays),
    ("QEMU: an earlier pass of a captured frame replays", earlier_pass_replays),
    ("QEMU: a captured user program replays", captured_program_replays),
    ("QEMU: captured jobs are uploaded, validated and run", foreign_jobs),
    ("QEMU: hangs are reported and captured", hangs),
    ("QEMU: no V3D", no_v3d),
    ("QEMU: firmware that never answers", silent_firmware),
    ("QEMU: firmware that stops answering at the first interrupt", dying_firmware),
    ("QEMU: failures are reported", failures),
    ("SD card: fsck.vfat finds nothing wrong with the image", card::file_system_is_sound),
    ("SD card: the archive has the files of the image", card::archive_has_the_same_files),
    ("QEMU: the kernel of the SD card", card::kernel_boots),
    ("QEMU: files on an SD card are read, drawn with, and written", files_on_card::read_and_written),
    ("QEMU: an SD card that is missing, full, damaged or removed", files_on_card::unusable),
    ("QEMU: loaded at other addresses", board::other_addresses),
    ("QEMU: by polling and by interrupt", board::polling_and_interrupts),
    ("QEMU: a serial port that does not send", board::stuck_serial_port),
    ("QEMU: selftest board", report::selftest_board),
    ("QEMU: selftest board without a key shows its report as QR codes in turn", report::unattended),
    ("QEMU: a key prevents selftest board from starting by itself", report::attended),
    ("QEMU: a step in which the board hung is left out by the next selftest board", report::hung_step),
    ("QEMU: a hang during boot is reported by the next boot", board::hang_in_boot),
    ("QEMU: an interrupt storm", board::interrupt_storm),
    ("QEMU: the V3D of every machine", machines::every_machine),
    ("QEMU: the guide's own kernel on raspi0, raspi2b and raspi3b", other_kernels::guide_kernel),
    ("QEMU: the kernel in C on raspi2b and raspi3b", other_kernels::kernel_in_c),
    ("QEMU: firmware with a gated V3D clock, a command line of 300 bytes, two pages", firmware::gated_clock),
    ("QEMU: a V3D without a clock is left alone", firmware::no_clock),
    ("QEMU: the watchdog ends an access to the V3D that never ends", firmware::endless_access),
    ("QEMU: after a hang in a V3D stage the next boot leaves the V3D alone", firmware::hang_in_v3d_stage),
    ("QEMU: interrupts from no known line are disabled", firmware::stray_interrupts),
    ("QEMU: a pitch of 16-bit pixels means no display", firmware::pitch_of_16_bits),
    ("QEMU: firmware that waits a second for the vertical blanking is asked once", firmware::slow_vsync),
    ("QEMU: the power block of a board", firmware::power_block),
    ("QEMU: a hang is ended by a reset of the whole V3D", firmware::reset_after_a_hang),
    ("QEMU: a V3D that only the ARM can power up", firmware::powered_by_hand),
];

/// The clear colour of the triangle scenes.
const CLEAR: [u8; 3] = [0, 0, 0];

/// Time limit of a step, including boot.
pub(super) const PATIENCE: Duration = Duration::from_secs(180);

/// Number of the kernel's last lines that are shown when a step fails.
const LINES_SHOWN: usize = 25;

/// Boots a machine, calls `work`, and adds the kernel's last lines to an error.
pub(super) fn with_machine(
    workspace: &Workspace,
    options: Options<'_>,
    work: impl FnOnce(&Qemu, Vec<String>, Instant) -> Result<String>,
) -> Result<String> {
    let scratch = workspace.scratch()?;
    let log = scratch.path().join("serial.log");
    let copies: Vec<Box<dyn std::io::Write + Send>> = vec![Box::new(File::create(&log)?)];
    let machine = Qemu::start(Options { copies, ..options }, scratch)?;
    let deadline = Instant::now() + PATIENCE;
    let result = machine.console.wait_ready(deadline).and_then(|boot| work(&machine, boot, deadline));
    let result = match (result, machine.check_faults()) {
        (Ok(remark), Ok(())) => return Ok(remark),
        (Ok(_), Err(fault)) => fault,
        (Err(error), Ok(())) => error,
        (Err(error), Err(fault)) => error.context(fault),
    };
    let text = std::fs::read(&log).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.lines().collect();
    println!("the kernel's last lines:");
    for line in &lines[lines.len().saturating_sub(LINES_SHOWN)..] {
        println!("  | {line}");
    }
    Err(result)
}

/// The same with a V3D, on the built kernel.
pub(super) fn with_v3d(
    workspace: &Workspace,
    built: &Built,
    work: impl FnOnce(&Qemu, Vec<String>, Instant) -> Result<String>,
) -> Result<String> {
    with_machine(workspace, Options::with_v3d(built.image()?, built.plugin()?), work)
}

/// The kernel boots; `help` prints something; an unknown command is an error, and the kernel continues.
fn boots(workspace: &Workspace, built: &Built) -> Result<String> {
    with_v3d(workspace, built, |machine, boot, deadline| {
        ensure!(!boot.is_empty(), "the kernel prints nothing before it is ready");
        let command = |name: &str| machine.console.command(name, "", deadline, |_| {});
        ensure!(!command("help")?.lines()?.is_empty(), "`help` prints nothing");
        command("v3d")?.lines().context("`v3d`")?;
        ensure!(command("nonsense")?.result.is_err(), "`nonsense` is accepted as a command");
        let Err(error) = run_scene(&machine.console, "no-such-scene", 0..1, deadline) else {
            bail!("a scene that does not exist ran");
        };
        ensure!(error.to_string().contains("no-such-scene"), "the error for an unknown scene is: {error}");
        command("help")?.lines().context("after two errors")?;
        Ok(format!("{} lines before it was ready", boot.len()))
    })
}

/// The commands that only print information.
fn every_question(workspace: &Workspace, built: &Built) -> Result<String> {
    const QUESTIONS: [&str; 9] = ["info", "clocks", "temp", "mem", "v3d", "regs", "stats", "log", "scene list"];
    with_v3d(workspace, built, |machine, _, deadline| {
        for question in QUESTIONS {
            let lines = machine.console.command(question, "", deadline, |_| {})?.lines();
            ensure!(!lines.with_context(|| format!("`{question}`"))?.is_empty(), "`{question}` prints nothing");
        }
        Ok(QUESTIONS.join(", "))
    })
}

/// The kernel's comparison of the V3D with recorded hardware results. The saved results are equal to the recorded ones byte for byte, except for the mul ALU's
/// flags, which are not compared.
fn selftest(workspace: &Workspace, built: &Built) -> Result<String> {
    with_v3d(workspace, built, |machine, _, _| {
        let results = Results::ask(&machine.console)?;
        if let Some(sentence) = results.failure {
            bail!("`selftest` ends with: {sentence}; {}", results.table.join(" / "));
        }
        let sum = results.table.last().cloned().unwrap_or_default();
        ensure!(sum.contains(" passed") && !sum.starts_with("0 passed"), "`selftest` ends with: {sum}");
        ensure!(!results.table.iter().any(|line| line.contains("no record")), "a scene has no record");
        let scratch = workspace.scratch()?;
        let read =
            |path: &Path| std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()));
        let records = read(&workspace.root.join(selftest::ALU_TABLE))?;
        results.save(scratch.path(), &records)?;
        let without_mul_flags = |text: String| -> Vec<String> {
            let is_mul = |row: &str| ["fmul", "mul24", "v8m"].iter().any(|name| row.starts_with(name));
            let cut = |row: &str| {
                if is_mul(row) { row.rsplit_once('\t').map_or(row, |(row, _)| row) } else { row }.to_owned()
            };
            text.lines().map(cut).collect()
        };
        let saved = without_mul_flags(read(&scratch.path().join("alu_op_flags.tsv"))?);
        ensure!(
            saved == without_mul_flags(records),
            "the saved results differ from the records, although the comparison passed"
        );
        let pictures = read(&scratch.path().join("pictures.tsv"))?;
        let recorded = read(&workspace.root.join("kernel/src/selftest/pictures.tsv"))?;
        ensure!(pictures == recorded, "the saved CRCs of pictures are not those on record: {pictures}");
        Ok(format!("{sum}; saved, the results are the records"))
    })
}

fn triangle_gl(workspace: &Workspace, built: &Built) -> Result<String> {
    triangle_scene(workspace, built, "triangle")
}

fn triangle_nv(workspace: &Workspace, built: &Built) -> Result<String> {
    triangle_scene(workspace, built, "triangle-nv")
}

/// Three frames; the screen as QEMU displays it is compared with a picture that is computed from the vertices.
fn triangle_scene(workspace: &Workspace, built: &Built, name: &str) -> Result<String> {
    with_v3d(workspace, built, |machine, _, deadline| {
        let run = run_scene(&machine.console, name, 0..3, deadline)?;
        ensure!(run.frames.len() == 3, "{} frames reported instead of 3", run.frames.len());
        let crcs: BTreeSet<u32> = run.frames.iter().map(|frame| frame.crc).collect();
        ensure!(crcs.len() == 1, "the frames of a static picture differ");
        let picture = machine.screenshot()?;
        let (points, outside) = match triangle::check(&picture, CLEAR) {
            Ok(counts) => counts,
            Err(error) => {
                let path = workspace.target.join(format!("xtask-{name}.png"));
                picture.write_png(&path)?;
                return Err(error.context(format!("the picture is kept in {}", path.display())));
            }
        };
        Ok(format!("{points} interior points within 2/255, {outside} pixels outside clear"))
    })
}

/// 120 frames, all different.
fn cube(workspace: &Workspace, built: &Built) -> Result<String> {
    const FRAMES: usize = 120;
    with_v3d(workspace, built, |machine, _, deadline| {
        let start = Instant::now();
        let run = run_scene(&machine.console, "cube", 0..FRAMES as u64, deadline)?;
        let seconds = start.elapsed().as_secs_f64();
        ensure!(run.frames.len() == FRAMES, "{} frames reported instead of {FRAMES}", run.frames.len());
        let crcs: BTreeSet<u32> = run.frames.iter().map(|frame| frame.crc).collect();
        ensure!(crcs.len() == FRAMES, "only {} of {FRAMES} frames differ", crcs.len());
        Ok(format!("{FRAMES} different frames, {:.1} a second", FRAMES as f64 / seconds))
    })
}

/// The words that the coordinate shader of JayStation's document stores.
const VPM_WORDS: &str = "bf665c24 3f5edd42 00000000 3f800000 1c000200 3f800000 3f800000";

/// The scene prints those words.
fn vpm(workspace: &Workspace, built: &Built) -> Result<String> {
    with_v3d(workspace, built, |machine, _, deadline| {
        let run = run_scene(&machine.console, "vpm", 0..1, deadline)?;
        ensure!(
            run.lines.iter().any(|line| line.trim() == VPM_WORDS),
            "no line says {VPM_WORDS}; there are: {}",
            run.lines.join(" / ")
        );
        Ok(String::new())
    })
}

/// Every scene of `scene list`, in one machine; afterwards the kernel has as much memory as before.
fn every_scene(workspace: &Workspace, built: &Built) -> Result<String> {
    with_v3d(workspace, built, |machine, _, _| {
        let console = &machine.console;
        let (times, in_use) =
            run::every_scene(console, PATIENCE, |scene| run::timed_scene(console, scene, 5, PATIENCE))?;
        Ok(format!("{}; {in_use}", times.join("; ")))
    })
}

/// Replays a job folder on the model; returns its picture and its memory. Fails if the job does not end.
fn replay(workspace: &Workspace, folder: &Path) -> Result<(Picture, Vec<u8>)> {
    let (picture, memory) = (folder.join("replayed.png"), folder.join("memory"));
    let status = Command::new(build::model(workspace)?)
        .arg("replay")
        .arg(folder)
        .arg("--out")
        .arg(&picture)
        .arg("--memory-out")
        .arg(&memory)
        .stdout(Stdio::null())
        .status()
        .context("`v3d` cannot be started")?;
    ensure!(status.success(), "`v3d replay` failed");
    Ok((Picture::read_png(&picture)?, std::fs::read(&memory)?))
}

fn ensure_same(replayed: &Picture, displayed: &Picture) -> Result<()> {
    ensure!(
        (replayed.width, replayed.height) == (displayed.width, displayed.height),
        "the replayed picture has {} x {} pixels",
        replayed.width,
        replayed.height
    );
    let different = replayed.pixels.iter().zip(&displayed.pixels).filter(|(a, b)| a != b).count();
    ensure!(different == 0, "{different} pixels of the replayed picture differ from the screen");
    Ok(())
}

/// A capture names each kind of thing: the description has the kernel's names as `v3d` reads them.
fn ensure_named(folder: &Path) -> Result<()> {
    let description: serde_json::Value = serde_json::from_slice(&std::fs::read(folder.join("job.json"))?)?;
    let names = description["jobs"][0]["names"].as_array().context("the capture has no names")?;
    for kind in ["pass", "draw", "program", "line", "uniform"] {
        ensure!(names.iter().any(|name| name["kind"] == kind), "nothing of the kind {kind} has a name");
    }
    Ok(())
}

/// A captured frame is drawn again from the job folder: by the model, which produces the same picture, and by the kernel.
fn capture_replays(workspace: &Workspace, built: &Built) -> Result<String> {
    with_v3d(workspace, built, |machine, _, deadline| {
        machine.console.command("names", " on", deadline, |_| {})?.lines()?;
        run_scene(&machine.console, "cube", 0..1, deadline)?;
        let displayed = machine.screenshot()?;
        let lines = machine.console.command("capture", "", deadline, |_| {})?.lines()?;
        machine.console.command("names", " off", deadline, |_| {})?.lines()?;
        let scratch = workspace.scratch()?;
        let folder = scratch.path().join("job");
        let remark = capture::write_folder(lines.iter().map(String::as_str), &folder)?;
        ensure_named(&folder)?;
        let (replayed, expected) = replay(workspace, &folder)?;
        ensure_same(&replayed, &displayed)?;
        let by_kernel = replay::replay(&machine.console, &replay::Job::read(&folder)?, &expected, 0)?;
        Ok(format!("{remark}; on the kernel {by_kernel}"))
    })
}

/// The pass before the last of a frame: its job stores what the last pass reads, and the model and the kernel store the same again.
fn earlier_pass_replays(workspace: &Workspace, built: &Built) -> Result<String> {
    with_v3d(workspace, built, |machine, _, deadline| {
        run_scene(&machine.console, "mirror", 0..1, deadline)?;
        let mut saved = Vec::new();
        let scratch = workspace.scratch()?;
        for before in ["", " before 1"] {
            let lines = machine.console.command("capture", before, deadline, |_| {})?.lines()?;
            let folder = scratch.path().join(format!("job{}", before.trim().replace(' ', "-")));
            capture::write_folder(lines.iter().map(String::as_str), &folder)?;
            saved.push(folder);
        }
        let described = |folder: &Path| -> Result<serde_json::Value> {
            Ok(serde_json::from_slice(&std::fs::read(folder.join("job.json"))?)?)
        };
        let [last, earlier] = [described(&saved[0])?, described(&saved[1])?];
        ensure!(last["name"] == "mirror" && earlier["name"] != "mirror", "the last job is {}", last["name"]);
        let lists =
            |job: &serde_json::Value| job["jobs"][0]["render_ct1ca"].as_u64().context("a job without a rendering list");
        ensure!(lists(&last)? != lists(&earlier)?, "both captures have the same lists");
        let expected = replay::expected(workspace, &build::model(workspace)?, &saved[1])?;
        let by_kernel = replay::replay(&machine.console, &replay::Job::read(&saved[1])?, &expected, 0)?;
        let told = machine.console.command("capture", " before 99", deadline, |_| {})?.lines();
        ensure!(told.is_err(), "a job is known that was drawn long ago");
        Ok(format!("on the kernel {by_kernel}"))
    })
}

/// A captured frame that follows a user program: the model runs the program again, and draws the same picture.
fn captured_program_replays(workspace: &Workspace, built: &Built) -> Result<String> {
    /// Bytes per row: a word for each of 16 elements.
    const ROW_BYTES: usize = 64;
    let words = VPM_WORDS.split(' ').map(|word| u32::from_str_radix(word, 16)).collect::<Result<Vec<_>, _>>()?;
    let is_result = |rows: &[u8]| {
        let mut firsts = rows.chunks(ROW_BYTES).zip(&words);
        firsts.all(|(row, word)| row.starts_with(&word.to_le_bytes()))
    };
    with_v3d(workspace, built, |machine, _, deadline| {
        run_scene(&machine.console, "vpm", 0..1, deadline)?;
        let displayed = machine.screenshot()?;
        let lines = machine.console.command("capture", "", deadline, |_| {})?.lines()?;
        let scratch = workspace.scratch()?;
        let folder = scratch.path().join("job");
        let (mut place, mut result) = (0, Vec::new());
        capture::write_changed_folder(lines.iter().map(String::as_str), &folder, |memory| {
            // The program's result is removed, so that the replay has to write it.
            place = memory
                .windows(ROW_BYTES * words.len())
                .step_by(ROW_BYTES)
                .position(is_result)
                .context("the capture has no result of the program")?
                * ROW_BYTES;
            let bytes = &mut memory[place..place + ROW_BYTES * words.len()];
            result = bytes.to_vec();
            bytes.fill(0);
            Ok(())
        })?;
        let (replayed, memory) = replay(workspace, &folder)?;
        ensure!(memory[place..].starts_with(&result), "the program's words are not in the replayed memory");
        ensure_same(&replayed, &displayed)?;
        Ok(format!("{} words and the picture", result.len() / 4))
    })
}

/// Another driver's job runs at other addresses, and stores what the model stores at the original ones. A job of zeros is rejected with a reason, and so is a
/// block whose CRC is wrong.
fn foreign_jobs(workspace: &Workspace, built: &Built) -> Result<String> {
    let captured = workspace.root.join("tools/v3d-sim/tests/captures/tri_rgb_odd");
    let job = replay::Job::read(&captured)?;
    // Computed before QEMU starts, since building the model may take longer than the step's time limit.
    let expected = replay::expected(workspace, &build::model(workspace)?, &captured)?;
    with_v3d(workspace, built, |machine, _, deadline| {
        let console = &machine.console;
        let foreign = replay::replay(console, &job, &expected, 0).context("a job of another driver")?;

        let mut wrong = expected.clone();
        wrong.fill(0x55);
        let Err(error) = replay::replay(console, &job, &wrong, 0) else { bail!("a wrong result is accepted") };
        ensure!(error.to_string().contains("are not the model's"), "a wrong result is reported by: {error}");

        let told = |arguments: &str| console.command("replay", arguments, deadline, |_| {});
        ensure!(told(" place 1000 1000")?.result.is_ok(), "a page cannot be allocated");
        let refused = told(" run 0 0 1000 1010")?.result;
        ensure!(
            refused.is_err_and(|why| why.contains("rendering list, offset 0x0, Halt")),
            "a job of zeros is accepted"
        );
        let why = replay::send_damaged(console, 0x1000)?;
        ensure!(why.contains("the CRC of the bytes"), "a damaged block is answered by: {why}");
        told(" clear")?;

        Ok(foreign)
    })
}

/// A job and a user program that wait for ever are reported and can be captured, and the next frame is right.
fn hangs(workspace: &Workspace, built: &Built) -> Result<String> {
    let scratch = workspace.scratch()?;
    let mut remark = Vec::new();
    for (how, member) in [("job", "\"render_ct1ca\""), ("program", "\"pc\"")] {
        // The model reports hangs as faults, so only the console is checked.
        let machine = Qemu::start(Options::with_v3d(built.image()?, built.plugin()?), workspace.scratch()?)?;
        let deadline = Instant::now() + PATIENCE;
        machine.console.wait_ready(deadline)?;
        let start = Instant::now();
        let lines = machine.console.command("fail", &format!(" {how}"), deadline, |_| {})?.lines()?;
        let seconds = start.elapsed().as_secs_f64();
        ensure!(
            lines.iter().any(|line| line.starts_with("the driver gave it up: ")),
            "`fail {how}` does not report that the driver gave up"
        );
        ensure!(lines.iter().any(|line| line.starts_with("CT1CA ")), "`fail {how}` does not report the registers");
        let lines = machine.console.command("capture", "", deadline, |_| {})?.lines()?;
        let folder = scratch.path().join(how);
        capture::write_folder(lines.iter().map(String::as_str), &folder)?;
        let description = std::fs::read_to_string(folder.join("job.json"))?;
        ensure!(description.contains(member), "the capture is not the job that hung: {description}");
        let run = run_scene(&machine.console, "triangle", 0..2, deadline)?;
        let right = run.frames.iter().filter(|frame| frame.crc == TRIANGLE_CRC).count();
        ensure!(right == 2, "{right} of 2 frames after `fail {how}` are right");
        remark.push(format!("{how} in {seconds:.1} s"));
    }
    Ok(remark.join(", "))
}

/// Without a V3D, the kernel reports it, rejects drawing, and continues.
fn no_v3d(workspace: &Workspace, built: &Built) -> Result<String> {
    with_machine(workspace, Options::without_v3d(built.image()?), |machine, boot, deadline| {
        ensure!(boot.iter().any(|line| line.contains("V3D")), "the kernel does not mention the V3D during boot");
        let reply = machine.console.command("v3d", "", deadline, |_| {})?;
        let Err(sentence) = reply.result else {
            bail!("this machine has no V3D, but the kernel reports one");
        };
        ensure!(run_scene(&machine.console, "triangle", 0..1, deadline).is_err(), "a triangle was drawn by no V3D");
        machine.console.command("help", "", deadline, |_| {})?.lines()?;
        Ok(sentence)
    })
}

/// CRC-32 of the first frame of the triangle at 1280 x 720.
pub(super) const TRIANGLE_CRC: u32 = 0xc75c_9afa;

/// With firmware that never answers there is no display, and it is not known whether the V3D has a clock: it is left alone until somebody takes the risk. Then
/// everything works.
fn silent_firmware(workspace: &Workspace, built: &Built) -> Result<String> {
    let options = Options { mailbox: Some("silent"), ..Options::with_v3d(built.image()?, built.plugin()?) };
    with_machine(workspace, options, |machine, boot, deadline| {
        let said = boot.iter().find(|line| line.contains("The firmware does not answer"));
        let said = said.context("the kernel does not report the firmware during boot")?.clone();
        let command = |name: &str| machine.console.command(name, "", deadline, |_| {});
        let info = command("info")?.lines()?;
        ensure!(info.iter().any(|line| line.starts_with("display    none")), "`info` says: {}", info.join(" / "));
        ensure!(command("temp")?.result.is_err(), "`temp` prints a temperature");
        ensure!(command("v3d")?.result.is_err_and(|why| why.contains("not known whether V3D has a clock")), "`v3d`");
        machine.console.command("v3d", " start unchecked", deadline, |_| {})?.lines()?;
        let run = run_scene(&machine.console, "triangle", 0..4, deadline)?;
        let right = run.frames.iter().filter(|frame| frame.crc == TRIANGLE_CRC).count();
        ensure!(right == 4, "{right} of 4 frames drawn into memory are right");
        let sum = command("selftest")?.lines()?.pop().unwrap_or_default();
        ensure!(!sum.starts_with("0 passed"), "`selftest` ends with: {sum}");
        Ok(format!("\"{said}\"; 4 frames are right; selftest: {sum}"))
    })
}

/// Firmware that stops answering when the V3D raises its first interrupt: it works until interrupts are enabled. Then pages can no longer be flipped, and
/// frames are still right.
fn dying_firmware(workspace: &Workspace, built: &Built) -> Result<String> {
    let options = Options { mailbox: Some("dies"), ..Options::with_v3d(built.image()?, built.plugin()?) };
    with_machine(workspace, options, |machine, _, deadline| {
        let way = |wanted: &str| -> Result<()> {
            let lines = machine.console.command("v3d", "", deadline, |_| {})?.lines()?;
            ensure!(lines.iter().any(|line| line.contains(wanted)), "`v3d` says: {}", lines.join(" / "));
            Ok(())
        };
        way("by polling")?;
        let run = run_scene(&machine.console, "triangle", 0..4, deadline)?;
        let silent = run.lines.iter().any(|line| line.contains("stopped answering") || line.contains("flipped"));
        ensure!(!silent, "the firmware has stopped answering although the V3D's interrupts are disabled");
        machine.console.command("interrupts", " on", deadline, |_| {})?.lines()?;
        let run = run_scene(&machine.console, "triangle", 0..4, deadline)?;
        let right = run.frames.iter().filter(|frame| frame.crc == TRIANGLE_CRC).count();
        ensure!(right == 4, "{right} of 4 frames are right");
        for sentence in ["the firmware stopped answering after frame 0", "pages can no longer be flipped"] {
            ensure!(run.lines.iter().any(|line| line.contains(sentence)), "the kernel does not say: {sentence}");
        }
        way("by polling")?;
        run_scene(&machine.console, "cube", 0..2, deadline)?;
        // The last frame was drawn into the displayed page.
        triangle_on_screen(machine, deadline)
    })
}

/// Draws the triangle once more and compares the picture that QEMU displays.
fn triangle_on_screen(machine: &Qemu, deadline: Instant) -> Result<String> {
    run_scene(&machine.console, "triangle", 0..3, deadline)?;
    let (points, outside) = triangle::check(&machine.screenshot()?, CLEAR)?;
    Ok(format!("{points} interior points within 2/255, {outside} pixels outside clear, on the one page that is left"))
}

/// Colour of the console's text on the screen.
pub(super) const INK: [u8; 3] = [0xe0, 0xe4, 0xe8];
/// Minimum number of text pixels of a panic: a line of a hundred letters has more.
pub(super) const MIN_INK: usize = 2000;

/// A panic, and faults that the MMU detects: the report appears on the serial line and on the screen.
fn failures(workspace: &Workspace, built: &Built) -> Result<String> {
    for (how, words) in
        [("panic", "panic: "), ("null", "exception: "), ("stack", "exception: "), ("constant", "exception: ")]
    {
        with_v3d(workspace, built, |machine, _, deadline| {
            run_scene(&machine.console, "triangle", 0..2, deadline)?;
            let Err(error) = machine.console.command("fail", &format!(" {how}"), deadline, |_| {}) else {
                bail!("`fail {how}` returned");
            };
            let told = error.to_string();
            ensure!(told.contains("the kernel stopped") && told.contains(words), "`fail {how}` ends with: {told}");
            // The scene owns the screen, and the report replaces it.
            let ink = machine.screenshot()?.pixels.iter().filter(|&&pixel| pixel == INK).count();
            ensure!(ink > MIN_INK, "only {ink} pixels of text are on the screen after `fail {how}`");
            Ok(String::new())
        })?;
    }
    Ok("panic, null pointer, stack overflow, write to a constant".to_owned())
}
