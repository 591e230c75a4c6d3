// Compute shaders: memory that can be changed, results, steps.

import { check, equal, example, holds, open, ready, says, text, write } from "../browser.mjs";

const page = await open();
const words = (name) => page.locator(`#after-${name} output`).allInnerTexts();
const fill = async (label, value) => {
  await page.getByLabel(label, { exact: true }).fill(value);
  await page.getByLabel(label, { exact: true }).press("Enter");
  await ready(page);
};

await check("a compute shader runs on memory that can be changed", async () => {
  await example(page, "a x + y");
  // y = 0.5 x, where y is 0 and x counts.
  equal(await words("y"), Array.from({ length: 64 }, (_, n) => String(0.5 * n)), "the results");
  await fill("x[5]", "-7.5");
  equal((await words("y"))[5], "-3.75", "the result of another number");
  await page.locator("#memory details").evaluate((details) => (details.open = true));
  await fill("y[5]", "100");
  equal((await words("y"))[5], "96.25", "the result with another summand");
  await page.getByLabel("x[6]", { exact: true }).fill("seven");
  await page.getByLabel("x[6]", { exact: true }).press("Enter");
  holds((await page.getByLabel("x[6]", { exact: true }).getAttribute("class")).includes("wrong"), "what is no number is marked");
  equal((await words("y"))[6], "3", "and not used");
  await page.locator("#settings input").fill("-1");
  await ready(page);
  equal((await words("y"))[8], "-8", "the result of another uniform");
});

await check("lengths, contents and workgroups can be chosen", async () => {
  await example(page, "Steps to 1");
  await fill("Words of given", "20");
  await fill("Words of steps", "20");
  await page.getByLabel("Contents of given").selectOption("ones");
  await ready(page);
  equal(await words("steps"), Array(20).fill("0"), "1 is 1 already");
  await page.getByLabel("Contents of given").selectOption("0, 1, 2 …");
  await fill("Workgroups along x", "1");
  // The first 16 numbers: steps to 1 by hand.
  equal((await words("steps")).slice(0, 17).map(Number), [0, 0, 1, 7, 2, 5, 8, 16, 3, 19, 6, 14, 9, 9, 17, 17, 0], "one workgroup computes 16");
  await page.click("#open-cost");
  holds(/compute shader/.test(await text(page, "#tab-cost")), "what it costs");
});

await check("a program of a compute shader is stepped through, and waits for the others", async () => {
  await example(page, "Turned round");
  await page.click("#open-step");
  await page.fill("#program-number", "2");
  await page.click("#tab-step .starter button");
  await says(page, "position", "0 executed");
  await page.click('[data-command="run"]');
  await says(page, "tab-step", "the program has ended");
  const row = (name) => page.locator(".memory tr", { has: page.getByRole("rowheader", { name, exact: true }) }).locator("td").allInnerTexts();
  // Program 2 has the invocations from 32 on; they store 63 - 32 and so on.
  equal(await row("reversed[32]"), ["31", "30", "29", "28", "27", "26", "25", "24"], "what it has stored");
  await page.click('[data-command="goto 0"]');
  await says(page, "position", "0 executed");
  equal(await row("reversed[32]"), Array(8).fill("0"), "what was there before");
});

await check("a compute shader that cannot be run says why", async () => {
  await write(page, "wgsl", "@group(0) @binding(0) var<storage, read_write> a: array<u32>;\n@compute @workgroup_size(16) fn cs_main(@builtin(global_invocation_id) id: vec3<u32>) { loop { a[0] += 1u; if a[0] == 0u { break; } } }");
  holds((await text(page, "#problems")).length > 20, await text(page, "#problems"));
  await example(page, "Twice as much");
  equal((await words("doubled"))[9], "18", "the next one runs");
});

await page.context().close();
