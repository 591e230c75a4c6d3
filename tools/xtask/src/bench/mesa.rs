//! Bytes of control list per draw of Mesa's driver, from captured frames in the format of `v3d dump`.

use crate::workspace::Workspace;
use anyhow::{Context, Result, ensure};
use std::path::Path;
use std::process::Command;

/// Captures in `tools/v3d-sim/tests/captures` with several draws in one list, and what they draw.
const CAPTURES: [(&str, &str); 2] =
    [("gears", "vertex arrays, each with its own matrix"), ("cube_depth", "indexed meshes, each with its own matrix")];

/// Prints a line for each capture.
pub(super) fn print(workspace: &Workspace, v3d: &Path) -> Result<()> {
    for (name, what) in CAPTURES {
        let folder = workspace.root.join("tools/v3d-sim/tests/captures").join(name);
        let output = Command::new(v3d).arg("dump").arg(&folder).output().context("cannot run v3d dump")?;
        ensure!(output.status.success(), "v3d dump {name}: {}", String::from_utf8_lossy(&output.stderr));
        let bytes = bytes_of_further_draws(&String::from_utf8_lossy(&output.stdout));
        let (Some(least), Some(most)) = (bytes.iter().min(), bytes.iter().max()) else {
            anyhow::bail!("{name} has only one draw");
        };
        println!(
            "a draw with unchanged state by Mesa's driver ({name}: {what}): {least} to {most} bytes of control list"
        );
    }
    Ok(())
}

/// Bytes between the ends of successive draws' primitives in the binning list.
fn bytes_of_further_draws(dump: &str) -> Vec<u64> {
    let list = dump.lines().skip_while(|line| !line.contains("binning list")).skip(1);
    let records = list.take_while(|line| !line.starts_with("== ")).filter_map(record);
    let ends: Vec<u64> =
        records.filter(|record| matches!(record.code, 32 | 33)).map(|record| record.address + record.bytes).collect();
    ends.windows(2).map(|pair| pair[1] - pair[0]).collect()
}

/// A record in the dump: address, code, name, bytes.
struct Record {
    address: u64,
    code: u32,
    bytes: u64,
}

fn record(line: &str) -> Option<Record> {
    let address = u64::from_str_radix(line.strip_prefix("0x")?.split(' ').next()?, 16).ok()?;
    let code = line.split_whitespace().nth(1)?.parse().ok()?;
    let bytes = line.rsplit_once('[')?.1.trim_end_matches(']').split(' ').count() as u64;
    Some(Record { address, code, bytes })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_between_two_draws_is_the_second_ones() {
        let dump = "\
== thread 0: binning list, 0x10 .. 0x40 ==
0x00000010   96 Configuration Bits  [60 01 90 03]
             17 early_z_updates        yes
0x00000014   33 Vertex Array Primitives  [21 04 80 07 00 00 00 00 00 00]
0x0000001e   64 GL Shader State  [40 c2 80 4c 00]
0x00000023   33 Vertex Array Primitives  [21 04 c0 03 00 00 80 07 00 00]
== thread 1: rendering list ==
0x00000100   33 Vertex Array Primitives  [21 04 c0 03 00 00 80 07 00 00]
";
        assert_eq!(bytes_of_further_draws(dump), [15]);
    }
}
