// Looking inside: pixels, steps, lists.

import { check, equal, example, holds, open, says, text, write } from "../browser.mjs";

const page = await open();
await write(page, "wgsl", "@fragment fn fs_main(@builtin(position) p: vec4<f32>) -> @location(0) vec4<f32> { return vec4(fract(0.01 * p.x)); }");

await check("a pixel has a history, and its program can be stepped through, forward and back", async () => {
  await page.locator("#picture").click({ position: { x: 100, y: 60 } });
  await page.click("#tab-pixel .history button");
  const position = () => text(page, "#position");
  holds((await position()).startsWith("0 executed"), "the beginning");
  const begin = await text(page, ".state");
  await page.click('[data-command="step"]');
  await page.waitForFunction(() => document.getElementById("position").innerText.startsWith("1 executed"));
  await page.click('[data-command="step"]');
  await page.waitForFunction(() => document.getElementById("position").innerText.startsWith("2 executed"));
  await page.locator("#tab-step").press("b");
  await page.locator("#tab-step").press("b");
  await page.waitForFunction(() => document.getElementById("position").innerText.startsWith("0 executed"));
  equal(await text(page, ".state"), begin, "the state at the beginning");
  await page.click('[data-command="run"]');
  await page.waitForFunction(() => document.getElementById("tab-step").innerText.includes("the program has ended"));
});

await check("a user program is stepped through, with its memory", async () => {
  await example(page, "Through the VPM to memory");
  await page.click("#open-step");
  await page.fill("#uniforms", "2.0, 0x9000");
  await page.click("#tab-step .starter button");
  await page.click('[data-command="run"]');
  // 2.0 times 15 is 30.0.
  await page.waitForFunction(() => document.getElementById("tab-step").innerText.includes("41f00000"));
  await page.click('[data-command="back"]');
  await page.click('[data-command="goto 0"]');
  await page.waitForFunction(() => !document.getElementById("tab-step").innerText.includes("41f00000"));
});

await check("the frame's lists are shown in words", async () => {
  await example(page, "Planet");
  await page.click("#open-lists");
  holds((await text(page, "#tab-lists")).includes("TileBinningMode") || /tile binning mode/i.test(await page.locator("#tab-lists").textContent()), "the binning list");
  // Tile Binning Mode Configuration: bits 103:96 behind its code are the width in tiles [AG p.71].
  const record = page.locator("#tab-lists .record", { hasText: "width_tiles" }).first();
  await record.locator(".bits", { hasText: "width_tiles" }).hover();
  equal(await record.locator(".byte.on").evaluateAll((bytes) => bytes.map((byte) => byte.dataset.low)), ["96"], "the byte of the width");
  await record.locator(".byte").nth(13).hover();
  holds((await record.locator(".bits.on").innerText()).includes("width_tiles"), "the field of the byte");
});

await check("words of memory are changed on the way", async () => {
  await example(page, "A loop");
  await page.click("#open-step");
  await page.click("#tab-step .starter button");
  await page.fill(".set input", "set 0x9100 2.5");
  await page.click(".set button");
  const cell = page.locator(".memory button", { hasText: "40200000" });
  await cell.click();
  equal(await page.inputValue(".set input"), "set 0x9100 ", "the command that pressing a word begins");
  await page.keyboard.type("0x77");
  await page.keyboard.press("Enter");
  await says(page, "tab-step", "00000077");
});

await check("the published coordinate shader leaves the published words", async () => {
  await example(page, "A coordinate shader, printed");
  await page.click("#open-step");
  await page.click("#tab-step .starter button");
  await page.click('[data-command="run"]');
  await says(page, "tab-step", "the program has ended");
  // JayStation, "VPM, VCD, and VCM for Vertex Shaders": Xc, Yc, Zc, Wc, Ys:Xs, Zs, 1/Wc. Lines of zeros are not shown.
  const shown = await page.locator(".memory tr").evaluateAll((rows) => Object.fromEntries(rows.map((row) => [row.cells[0].innerText, row.cells[1].innerText])));
  const published = ["bf665c24", "3f5edd42", undefined, "3f800000", "1c000200", "3f800000", "3f800000"];
  equal(published.map((_, row) => shown[(0x9000 + 64 * row).toString(16).padStart(8, "0")]), published, "the first word of each row");
});

await page.context().close();
