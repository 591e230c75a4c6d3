//! Records the results of the shader compiler's tests with wgpu, on Vulkan's software driver.
//!
//! ```sh
//! cd tools/shader-compiler/oracle
//! cargo run -- expressions > ../tests/oracle/expressions.tsv
//! cargo run -- programs > ../tests/oracle/programs.tsv               # or --suite NAME --range LO..HI
//! cargo run -- source --suite loops --range 17..18                   # a program to look at
//! ```
#![forbid(unsafe_code)]

use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};

#[path = "../../tests/oracle/expressions.rs"]
#[expect(dead_code, reason = "only the operands that are recorded are of interest here")]
mod expressions;
mod gpu;
#[path = "../../tests/oracle/programs.rs"]
mod programs;
#[path = "../../tests/oracle/random.rs"]
mod random;

/// Records results of Vulkan's software driver
#[derive(Parser)]
struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Expressions of two operands
    Expressions,
    /// Random programs
    Programs(Selection),
    /// Prints random programs
    Source(Selection),
}

#[derive(Args)]
struct Selection {
    /// A suite; all of them without
    #[arg(long)]
    suite: Option<String>,
    /// Numbers of programs
    #[arg(long, default_value = "0..60")]
    range: String,
}

impl Selection {
    fn programs(&self) -> Result<Vec<(&'static str, programs::Suite, u64)>, String> {
        let (low, high) = self.range.split_once("..").ok_or("a range is LO..HI")?;
        let number = |text: &str| text.parse::<u64>().map_err(|error| format!("{text}: {error}"));
        let range = number(low)?..number(high)?;
        let wanted = |name: &str| self.suite.as_deref().is_none_or(|suite| suite == name);
        let suites: Vec<_> = programs::Suite::ALL.into_iter().filter(|(name, _)| wanted(name)).collect();
        if suites.is_empty() {
            return Err("there is no suite of this name".to_owned());
        }
        Ok(suites.iter().flat_map(|&(name, suite)| range.clone().map(move |number| (name, suite, number))).collect())
    }
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<(), String> {
    match &arguments.what {
        What::Source(selection) => {
            for (name, suite, number) in selection.programs()? {
                println!("// {name} {number}\n{}", programs::source(suite, number));
            }
        }
        What::Expressions => {
            let gpu = gpu::Gpu::new()?;
            println!("# Results of the expressions of expressions.rs, one a row, by {}.", gpu.name);
            for (number, expression) in expressions::ALL.iter().enumerate() {
                let [first, second] = expressions::operands(number, expression);
                let buffers = [vec![0; expressions::COUNT], first, second];
                let groups = expressions::COUNT as u32 / 16;
                let words = gpu.run(&expressions::source(expression), groups, &buffers)?;
                let words: Vec<String> = words.iter().map(|word| format!("{word:x}")).collect();
                println!("{}\t{:?}\t{}", expression.text, expression.domain, words.join(" "));
            }
        }
        What::Programs(selection) => {
            let gpu = gpu::Gpu::new()?;
            println!("# Suite, number and sum of the results of the programs of programs.rs, by {}.", gpu.name);
            for (name, suite, number) in selection.programs()? {
                let groups = programs::INVOCATIONS / 32;
                let buffers = [programs::results(), programs::given()];
                // Some programs divide or overflow with constants, which is an error in WGSL.
                match gpu.run(&programs::source(suite, number), groups, &buffers) {
                    Ok(words) => println!("{name}\t{number}\t{:016x}", programs::digest(&words)),
                    Err(error) => {
                        eprintln!("{error}");
                        println!("{name}\t{number}\trefused");
                    }
                }
            }
        }
    }
    Ok(())
}
