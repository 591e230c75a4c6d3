// Typing: diagnostics, words, programs and what an edit costs.

import { check, equal, example, holds, open, text, write } from "../browser.mjs";

const page = await open();

await check("a mistake in WGSL is marked where it is", async () => {
  await write(page, "wgsl", "@fragment fn fs_main() -> @location(0) vec4<f32> {\n    return vec4(hue, 1.0);\n}");
  equal(await text(page, ".cm-lintRange-error"), "hue", "the marked word");
  holds((await text(page, "#problems")).includes("line 2"), "the list names the line");
});

await check("a hazard in assembly is marked and explained", async () => {
  await write(page, "qasm", ".stage user\nmov ra0, unif\nmov r0, ra0\nthrend\nnop\nnop\n");
  holds((await text(page, "#problems")).includes("E0200"), "the code");
  holds((await page.locator(".cm-lintRange-error").count()) > 0, "a mark");
});

await check("a word of WGSL is explained with what it costs", async () => {
  await write(page, "wgsl", "@fragment fn fs_main(@location(0) p: vec2<f32>) -> @location(0) vec4<f32> { return vec4(sin(p.x)); }");
  const [x, y] = await page.evaluate(() => {
    const walker = document.createTreeWalker(document.querySelector(".cm-content"), NodeFilter.SHOW_TEXT);
    while (!walker.nextNode().data.includes("sin"));
    const range = document.createRange();
    range.setStart(walker.currentNode, walker.currentNode.data.indexOf("sin"));
    range.setEnd(walker.currentNode, range.startOffset + 3);
    const box = range.getBoundingClientRect();
    return [box.x + box.width / 2, box.y + box.height / 2];
  });
  await page.mouse.move(x, y);
  await page.waitForSelector(".explained");
  const meaning = await text(page, ".explained");
  holds(/sine of an angle/.test(meaning) && /has \d+ instructions/.test(meaning), meaning);
});

await check("words are completed as they are typed", async () => {
  const type = async (language, text, chosen) => {
    await write(page, language, language === "qasm" ? ".macro twice, a\nadd a, a, a\n.endm\n" : "fn brightness(x: f32) -> f32 { return x; }\n");
    await page.keyboard.press("Control+End");
    await page.keyboard.type(text, { delay: 20 });
    await page.locator(".cm-tooltip-autocomplete li", { hasText: chosen }).first().click();
    return page.locator(".cm-line").last().innerText();
  };
  equal(await type("qasm", "vpm_se", "vpm_setup"), "vpm_setup", "a function of the included file");
  equal(await type("qasm", "twi", "twice"), "twice", "a macro of the source");
  equal(await type("qasm", "ldtm", "ldtmu1"), "ldtmu1", "a signal");
  equal(await type("wgsl", "invers", "inverseSqrt"), "inverseSqrt", "a built-in function");
  equal(await type("wgsl", "brigh", "brightness"), "brightness", "a function of the source");
});

await check("each instruction has its live registers", async () => {
  await write(page, "qasm", ".stage user\nldi ra1, 1\nldi r1, 2\nadd r0, ra1, r1\nmov vpm, r0\nthrend\nnop\nnop\n");
  await page.click("#open-code");
  const live = await page.locator("#tab-code td.live").evaluateAll((cells) => cells.map((cell) => cell.dataset.live));
  equal(live, ["", "ra1", "ra1 r1", "r0", "", "", ""], "the registers");
});

await check("what an edit costs is shown beside what was", async () => {
  await write(page, "wgsl", "@fragment fn fs_main() -> @location(0) vec4<f32> { return vec4(0.5); }");
  await write(page, "wgsl", "@fragment fn fs_main(@builtin(position) p: vec4<f32>) -> @location(0) vec4<f32> { return vec4(fract(0.01 * p.x)); }");
  holds(/\+\d+/.test(await text(page, "#tab-code .worse")), "the difference");
  await page.click("#open-cost");
  holds(/ms/.test(await text(page, "#tab-cost")), "the time of a frame");
});

await check("thread switches are shown with the length of what lies between", async () => {
  await example(page, "Two lookups");
  await page.click("#open-code");
  const stretches = await page.locator("#tab-code td.thread").evaluateAll((cells) => cells.map((cell) => [Number(cell.dataset.stretch), cell.innerText]));
  const switches = stretches.flatMap(([, text], at) => (text.includes("switch") ? [at] : []));
  const texts = await page.locator("#tab-code td.text").allInnerTexts();
  equal(switches, texts.flatMap((text, at) => (/\bl?thrsw\b/.test(text) ? [at] : [])), "the instructions with the signal");
  holds(switches.length >= 2, "both lookups switch");
  // A stretch ends two instructions behind its switch [AG p.20]; the last one is the rest of the program.
  const ends = [...switches.map((at) => at + 2), stretches.length - 1];
  const lengths = ends.map((end, at) => end - (at ? ends[at - 1] : -1));
  equal(ends.map((_, own) => stretches.filter(([stretch]) => stretch === own).length), lengths, "the rows of each stretch");
  const said = stretches.map(([, text]) => /(\d+) instr/.exec(text)?.[1]).filter(Boolean).map(Number);
  equal(said, lengths, "the lengths that are told");
  holds(stretches.some(([, text]) => /\d+ cycles/.test(text)), "cycles of a stretch");
});

await page.context().close();
