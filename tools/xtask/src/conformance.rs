//! `cargo xtask conformance`: dEQP-GLES2 and piglit on Mesa with the model, compared with what is expected to fail.

mod deqp;
mod piglit;
mod results;
mod suite;

use crate::interrupt;
use crate::mesa::{Environment, Release};
use crate::workspace::Workspace;
use anyhow::{Context, Result, bail, ensure};
use deqp::Deqp;
use lexopt::prelude::*;
use piglit::Piglit;
use results::{Results, Shard};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;
use suite::Suite;

const HELP: &str = "\
cargo xtask conformance --deqp BUILD [OPTIONS]
cargo xtask conformance --piglit [BUILD] [OPTIONS]
cargo xtask conformance --merge [-o DIR]

Runs the cases of dEQP-GLES2, Khronos' tests of OpenGL ES 2, without its groups `performance` and `stress`, or piglit's tests of OpenGL
2.1 and OpenGL ES 2, on Mesa's vc4 driver with the model of the V3D, in parallel processes, and compares their results with the lists of
expected failures in tools/simpenrose/conformance. Fails if one is different. Needs `cargo xtask mesa setup`.

  --deqp BUILD     the program deqp-gles2, or a folder of a build with modules/gles2/deqp-gles2. It must be built for the target
                   `surfaceless`
  --piglit BUILD   the program piglit of an installed piglit, or the folder of a build (default: /usr/bin/piglit, Debian's package
                   piglit). Its lists quick_gl and quick_shader tell which tests there are
  --cases FILE     the cases to run, one in each line (default: all that the program has)
  --only WORD      only those of them whose names contain WORD; may be given several times
  --config NAME    the frame buffer, as dEQP names it (default rgba8888d24s8ms0; rgba8888d24s8ms4 is 4x multisampled)
  --shard I/N      the I-th of N parts of the cases, for N machines
  --resume         go on with the results that are in DIR, without the cases that have one
  --jobs N         processes at the same time (default: one for each core)
  --release N      the Mesa of `cargo xtask mesa setup --release N` (default 12)
  -o DIR           the folder for results (default target/conformance/dEQP-GLES2 or target/conformance/piglit)
  --merge          run nothing: compare the results of all shards in DIR

A matrix of CI jobs, GNU parallel, and Slurm:
  cargo xtask conformance --deqp BUILD --shard ${{ matrix.shard }}/8
  parallel -S host1,host2 cargo xtask conformance --deqp BUILD --jobs 1 --shard {}/8 ::: 1 2 3 4 5 6 7 8
  sbatch --array=1-8 --wrap 'cargo xtask conformance --deqp BUILD --shard $SLURM_ARRAY_TASK_ID/8'
";

#[derive(Debug, PartialEq)]
struct Options {
    deqp: Option<PathBuf>,
    piglit: Option<PathBuf>,
    cases: Option<PathBuf>,
    only: Vec<String>,
    config: String,
    shard: Shard,
    resume: bool,
    jobs: usize,
    release: Release,
    folder: Option<PathBuf>,
    merge: bool,
}

impl Options {
    /// `None` if the arguments only request help.
    fn parse(mut arguments: lexopt::Parser) -> Result<Option<Self>> {
        let mut options = Self {
            deqp: None,
            piglit: None,
            cases: None,
            only: Vec::new(),
            config: "rgba8888d24s8ms0".to_owned(),
            shard: Shard::ALL,
            resume: false,
            jobs: std::thread::available_parallelism().map_or(1, usize::from),
            release: Release::Debian12,
            folder: None,
            merge: false,
        };
        while let Some(argument) = arguments.next()? {
            match argument {
                Long("help") | Short('h') => return Ok(None),
                Long("deqp") => options.deqp = Some(arguments.value()?.into()),
                Long("piglit") => {
                    let value = arguments.optional_value();
                    options.piglit = Some(value.map_or_else(|| PathBuf::from(piglit::INSTALLED), PathBuf::from));
                }
                Value(build) if options.piglit.is_some() => options.piglit = Some(build.into()),
                Long("cases") => options.cases = Some(arguments.value()?.into()),
                Long("only") => options.only.push(arguments.value()?.string()?),
                Long("config") => options.config = arguments.value()?.string()?,
                Long("shard") => options.shard = Shard::parse(&arguments.value()?.string()?)?,
                Long("resume") => options.resume = true,
                Long("jobs") => options.jobs = arguments.value()?.parse()?,
                Long("release") => options.release = Release::parse(&arguments.value()?.string()?)?,
                Short('o') => options.folder = Some(arguments.value()?.into()),
                Long("merge") => options.merge = true,
                other => return Err(other.unexpected().into()),
            }
        }
        ensure!(options.jobs > 0, "--jobs must be at least 1");
        ensure!(
            options.deqp.is_none() || options.piglit.is_none(),
            "--deqp and --piglit are two suites: run one after the other"
        );
        if options.deqp.is_none() && options.piglit.is_none() && !options.merge {
            bail!(
                "a suite is missing. --deqp BUILD: a build of the program deqp-gles2 for the target `surfaceless`, from Khronos' repository VK-GL-CTS, \
                 whose README describes it. --piglit [BUILD]: Debian's package piglit, or another build. See `cargo xtask conformance \
                 --help`"
            );
        }
        Ok(Some(options))
    }
}

/// Runs the task.
pub(crate) fn task(arguments: lexopt::Parser) -> Result<()> {
    let Some(options) = Options::parse(arguments)? else {
        eprint!("{HELP}");
        return Ok(());
    };
    interrupt::watch()?;
    let workspace = Workspace::find()?;
    let default = if options.piglit.is_some() { "conformance/piglit" } else { "conformance/dEQP-GLES2" };
    let folder = options.folder.clone().unwrap_or_else(|| workspace.target.join(default));
    let lists = workspace.root.join("tools/simpenrose/conformance");
    let expected = expected(&lists, options.release, &options.config)?;
    if !options.merge {
        let mut environment = Environment::of(&workspace, options.release)?;
        // A job that hangs is the failure of its case, not the end of those behind it; each process has a core.
        environment.set("SIMPENROSE_GO_ON", "1");
        environment.set("SIMPENROSE_THREADS", "1");
        std::fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
        environment.set("SIMPENROSE_FAULTS", folder.canonicalize()?.join("faults"));
        let scratch = workspace.scratch()?;
        let suite: Box<dyn Suite> = match (&options.deqp, &options.piglit) {
            (Some(build), _) => Box::new(Deqp::new(build, environment, &options.config, scratch.path())?),
            (None, Some(build)) => Box::new(Piglit::new(build, environment, scratch.path())?),
            (None, None) => bail!("there is no suite to run"),
        };
        let results = Results::open(&folder, options.shard, options.resume)?;
        run(&options, suite.as_ref(), results)?;
    }
    let all = results::read_all(&folder)?;
    ensure!(!all.is_empty(), "there are no results in {}", folder.display());
    print!("{}", results::counts(&all));
    let differences = results::differences(&all, &expected)?;
    for difference in &differences {
        println!("{difference}");
    }
    ensure!(differences.is_empty(), "{} of {} cases have another result than expected", differences.len(), all.len());
    println!("no difference");
    Ok(())
}

/// The lists of expected failures: of both suites, whose cases have different names, and then the additional ones of another Mesa and of a frame buffer. Of a
/// case's rows the last one counts.
fn expected(folder: &Path, release: Release, config: &str) -> Result<String> {
    let read = |file: &Path| std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()));
    let mut text = read(&folder.join("dEQP-GLES2.tsv"))? + &read(&folder.join("piglit.tsv"))?;
    for name in [format!("release-{}", release.name()), config.to_owned()] {
        let additional = folder.join(format!("dEQP-GLES2-{name}.tsv"));
        if additional.is_file() {
            text += &read(&additional)?;
        }
    }
    Ok(text)
}

/// Runs the cases of a shard that have no result yet.
fn run(options: &Options, suite: &dyn Suite, results: Results) -> Result<()> {
    let mut cases = match &options.cases {
        Some(file) => suite::read(file)?,
        None => suite.cases()?,
    };
    cases.retain(|case| options.only.is_empty() || options.only.iter().any(|word| case.contains(word.as_str())));
    let cases: Vec<String> = options.shard.part(cases).into_iter().filter(|case| !results.has(case)).collect();
    let chunks: Vec<&[String]> = cases.chunks(suite.cases_each()).collect();
    eprintln!("==> {} cases in {} processes, {} at a time", cases.len(), chunks.len(), options.jobs);
    let (next, done, start) = (AtomicUsize::new(0), AtomicUsize::new(0), Instant::now());
    let results = Mutex::new(results);
    let failure = Mutex::new(None);
    let work = |worker: usize| -> Result<()> {
        while let Some(chunk) = chunks.get(next.fetch_add(1, Ordering::Relaxed)) {
            interrupt::check()?;
            let found = suite.run(chunk, worker)?;
            results.lock().map_err(|_| anyhow::anyhow!("another thread has failed"))?.add(&found)?;
            let done = done.fetch_add(chunk.len(), Ordering::Relaxed) + chunk.len();
            eprintln!("{done} of {} cases, {:.0} s", cases.len(), start.elapsed().as_secs_f64());
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        for worker in 0..options.jobs {
            let (work, failure) = (&work, &failure);
            scope.spawn(move || {
                if let (Err(error), Ok(mut failure)) = (work(worker), failure.lock()) {
                    failure.get_or_insert(error);
                }
            });
        }
    });
    failure.into_inner().ok().flatten().map_or(Ok(()), Err)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(arguments: &[&str]) -> Result<Option<Options>> {
        Options::parse(lexopt::Parser::from_args(arguments))
    }

    #[test]
    fn the_rows_of_another_mesa_and_frame_buffer_count_last() {
        let folder = std::env::temp_dir().join(format!("conformance-lists-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        for (name, text) in
            [("dEQP-GLES2", "d\n"), ("piglit", "p\n"), ("dEQP-GLES2-release-13", "r\n"), ("dEQP-GLES2-ms4", "m\n")]
        {
            std::fs::write(folder.join(format!("{name}.tsv")), text).unwrap();
        }
        assert_eq!(expected(&folder, Release::Debian12, "ms0").unwrap(), "d\np\n");
        assert_eq!(expected(&folder, Release::Debian13, "ms0").unwrap(), "d\np\nr\n");
        assert_eq!(expected(&folder, Release::Debian13, "ms4").unwrap(), "d\np\nr\nm\n");
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn arguments() {
        let words = ["--deqp", "build", "--shard=2/8", "--resume", "--only", "clipping", "--jobs", "3"];
        let options = parse(&words).unwrap().unwrap();
        assert_eq!((options.deqp, options.resume, options.jobs), (Some("build".into()), true, 3));
        assert_eq!(options.shard, Shard::parse("2/8").unwrap());
        assert_eq!(options.only, ["clipping"]);
        assert!(parse(&["--merge"]).unwrap().unwrap().merge);
        for (words, build) in
            [(&["--piglit"][..], piglit::INSTALLED), (&["--piglit", "x", "--resume"], "x"), (&["--piglit=x"], "x")]
        {
            assert_eq!(parse(words).unwrap().unwrap().piglit, Some(build.into()), "{words:?}");
        }
        for (arguments, part) in [
            (&[][..], "VK-GL-CTS"),
            (&["--deqp", "x", "--piglit", "y"], "one after the other"),
            (&["--deqp", "x", "--shard", "9/8"], "--shard takes"),
            (&["--deqp", "x", "--jobs", "0"], "at least 1"),
        ] {
            let message = format!("{:#}", parse(arguments).unwrap_err());
            assert!(message.contains(part), "{arguments:?}: {message}");
        }
    }
}
