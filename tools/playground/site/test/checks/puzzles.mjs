// Puzzles: none is solved as it stands, each by its solution.

import { readdirSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";
import { check, equal, example, holds, open, pageFolder, text, write } from "../browser.mjs";

const NAMES = {
  puzzle_hazard: "Find the hazard", puzzle_shorter: "Make it shorter", puzzle_pair: "Two at a time", puzzle_vertex: "Once, not 57,600 times", puzzle_wait: "Ask early, wait late",
  puzzle_disc: "Draw a disc", puzzle_barrier: "Wait for the others", puzzle_slots: "Empty slots",
};
const folder = join(pageFolder, "test/solutions");
const page = await open();

await check("puzzles are checked by the page", async () => {
  const files = readdirSync(folder);
  const listed = await page.locator('#example optgroup[label="Puzzles"] option').allInnerTexts();
  equal(files.map((file) => NAMES[file.split(".")[0]]).sort(), listed.sort(), "the puzzles that have a solution");
  for (const file of files) {
    const name = NAMES[file.split(".")[0]];
    await example(page, name);
    holds(!(await page.locator("#sentence.solved").count()), `${name} is not solved yet`);
    await write(page, extname(file).slice(1), readFileSync(join(folder, file), "utf8"));
    holds((await text(page, "#sentence")).startsWith("Solved: "), `${name} is solved: ${await text(page, "#problems")}`);
    // Something shorter that does not do the same is no solution.
    const empty = extname(file) === ".wgsl" ? "@fragment fn fs_main() -> @location(0) vec4<f32> { return vec4(1.0); }" : "nop\nthrend\nnop\nnop\n";
    await write(page, extname(file).slice(1), empty);
    holds(!(await page.locator("#sentence.solved").count()), `${name} is not solved by nothing`);
  }
});

await page.context().close();
