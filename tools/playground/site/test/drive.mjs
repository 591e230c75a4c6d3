// What people do with the page, in a real browser without a window: `node drive.mjs SITE EXPECTED SCREENSHOTS BROWSER MODULE`.
//
// Prints a line for each check: `ok NAME`, or `FAILED NAME: why`; what it measures, after `measured: `. The checks are in the folder `checks`; `CHECKS=NAME,NAME`
// in the environment chooses some of its files.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { check, close, complaints, equal, failed, holds, measured, open, ready, requested, site } from "./browser.mjs";

await check("the first load is under 3 MB compressed", async () => {
  const page = await open();
  const loaded = [...requested].map((name) => name || "index.html").filter((name) => readdirSync(site).includes(name));
  for (const name of ["page.js", "worker.js", "style.css", "playground_bg.wasm"]) holds(loaded.includes(name), `${name} is loaded`);
  holds(!loaded.includes("lighthouse.glb"), "the lighthouse is loaded when it is chosen");
  const bytes = [...new Set([...loaded, "index.html"])].reduce((sum, name) => sum + gzipSync(readFileSync(join(site, name))).length, 0);
  measured(`first load ${(bytes / 1e6).toFixed(2)} MB compressed by gzip`);
  holds(bytes < 3e6, `${bytes} bytes`);
  await page.context().close();
});

const files = ["editing", "drawing", "computing", "stepping", "sharing", "puzzles", "hostile", "people", "serving"];
const chosen = process.env.CHECKS?.split(",") ?? files;
for (const name of files.filter((file) => chosen.includes(file))) {
  const started = performance.now();
  await import(`./checks/${name}.mjs`);
  console.log(`# ${name}: ${((performance.now() - started) / 1000).toFixed(1)} s`);
}

await check("no error on the console, no request to elsewhere", () => equal(complaints, [], "complaints"));

// What it costs a person. Nothing here can fail: times depend on the machine.
{
  const page = await open();
  const first = await page.evaluate(() => performance.now());
  const times = [];
  for (let n = 0; n < 12; n += 1) {
    await page.evaluate((n) => {
      const slider = document.getElementById("time");
      slider.value = String(n);
      slider.dispatchEvent(new Event("input"));
    }, n);
    await ready(page);
    times.push(Number(await page.evaluate(() => document.body.dataset.took)));
  }
  times.sort((a, b) => a - b);
  measured(`first picture with its costs after ${(first / 1000).toFixed(2)} s, the planet at 320x180 in ${times[6]} ms a frame`);
}

await close();
process.exit(failed ? 1 : 0);
