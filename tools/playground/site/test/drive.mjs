// What people do with the page, in a real browser without a window: `node drive.mjs SITE EXPECTED SCREENSHOTS BROWSER`.
//
// Prints a line for each check: `ok NAME`, or `FAILED NAME: why`; what it measures, after `measured: `.

import { createRequire } from "node:module";
import { createServer } from "node:http";
import { mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { basename, extname, join } from "node:path";
import { gzipSync } from "node:zlib";

const { chromium } = createRequire(import.meta.url)("playwright-core");
const [site, expected, screenshots, executablePath] = process.argv.slice(2);
mkdirSync(screenshots, { recursive: true });

// The page is served below a path, as any file host would serve it.
const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".wasm": "application/wasm" };
const server = createServer((request, response) => {
  const path = new URL(request.url, "http://localhost").pathname;
  if (!path.startsWith("/some/where/")) return response.writeHead(404).end();
  const name = path.slice("/some/where/".length) || "index.html";
  try {
    response.writeHead(200, { "content-type": TYPES[extname(name)] ?? "application/octet-stream" }).end(readFileSync(join(site, basename(name))));
  } catch {
    response.writeHead(404).end();
  }
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const home = `http://127.0.0.1:${server.address().port}/some/where/`;

const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
const complaints = [];

async function open(options = {}, address = home) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options });
  const page = await context.newPage();
  page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith(home) && !url.startsWith("data:") && !url.startsWith("blob:")) complaints.push(`a request to ${url}`);
  });
  await page.goto(address);
  await ready(page);
  return page;
}

// Everything that was asked for has been shown.
const ready = (page) => page.waitForFunction(() => document.body.dataset.state === "ready", undefined, { timeout: 60000 });

// A source in place of the one in the editor, as if it were pasted.
async function write(page, language, text) {
  await page.selectOption("#language", language);
  await page.locator(".cm-content").focus();
  await page.keyboard.press("Control+a");
  await page.keyboard.insertText(text);
  await ready(page);
}

const picture = (page) => page.evaluate(() => {
  const canvas = document.getElementById("picture");
  return [...canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data];
});

const text = (page, selector) => page.locator(selector).innerText();

function equal(actual, wanted, what) {
  if (JSON.stringify(actual) !== JSON.stringify(wanted)) throw new Error(`${what}: ${JSON.stringify(actual)?.slice(0, 300)} instead of ${JSON.stringify(wanted).slice(0, 300)}`);
}

function holds(condition, what) {
  if (!condition) throw new Error(what);
}

let failed = 0;
async function check(name, act) {
  try {
    await act();
    console.log(`ok ${name}`);
  } catch (error) {
    failed += 1;
    console.log(`FAILED ${name}: ${String(error.message).split("\n").slice(0, 3).join(" ")}`);
  }
}

const page = await open();
await check("the first load is under 3 MB compressed", () => {
  const bytes = readdirSync(site).filter((name) => !name.endsWith(".txt")).reduce((sum, name) => sum + gzipSync(readFileSync(join(site, name))).length, 0);
  console.log(`measured: first load ${(bytes / 1e6).toFixed(2)} MB compressed by gzip`);
  holds(bytes < 3e6, `${bytes} bytes`);
});

await check("pictures are the host's, byte for byte", async () => {
  const names = readdirSync(expected).filter((name) => name.endsWith(".rgba"));
  holds(names.length >= 15, `only ${names.length} pictures`);
  const examples = join(import.meta.dirname, "../examples");
  for (const name of names) {
    const stem = name.slice(0, -5);
    const file = readdirSync(examples).find((other) => other.startsWith(`${stem}.`));
    await write(page, extname(file).slice(1), readFileSync(join(examples, file), "utf8"));
    const shape = await page.inputValue("#shape");
    if (shape !== "quad") await page.selectOption("#shape", "quad"), await ready(page);
    const wanted = readFileSync(join(expected, name));
    const actual = Buffer.from(await picture(page));
    holds(actual.equals(wanted), `${name}: pixel ${actual.findIndex((byte, at) => byte !== wanted[at]) >> 2} differs`);
  }
});

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
  await page.selectOption("#example", "Through the VPM to memory");
  await ready(page);
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
  await page.selectOption("#example", "Planet");
  await ready(page);
  await page.click("#open-lists");
  holds((await text(page, "#tab-lists")).includes("TileBinningMode") || /tile binning mode/i.test(await page.locator("#tab-lists").textContent()), "the binning list");
  // Tile Binning Mode Configuration: bits 103:96 behind its code are the width in tiles [AG p.71].
  const record = page.locator("#tab-lists .record", { hasText: "width_tiles" }).first();
  await record.locator(".bits", { hasText: "width_tiles" }).hover();
  equal(await record.locator(".byte.on").evaluateAll((bytes) => bytes.map((byte) => byte.dataset.low)), ["96"], "the byte of the width");
  await record.locator(".byte").nth(13).hover();
  holds((await record.locator(".bits.on").innerText()).includes("width_tiles"), "the field of the byte");
});

await check("a shared link opens to the same source and picture", async () => {
  await page.selectOption("#example", "Plasma");
  await ready(page);
  await page.locator("#settings input").first().fill("0.2");
  await ready(page);
  const before = await picture(page);
  await page.click("#share");
  await page.waitForFunction(() => location.hash.startsWith("#1:"));
  const other = await open({}, page.url());
  equal(await text(other, ".cm-content"), await text(page, ".cm-content"), "the source");
  holds(Buffer.from(await picture(other)).equals(Buffer.from(before)), "the picture");
  await other.context().close();
  // A link of version 1, as other programs make it: 0.2, 0.4 and 0.6 of 255.
  const old = await open({}, `${home}#1:HYntCoIwFEBf5XJ_KSyZJkIW4pvExbY1mNP2YZH47m39OXDO2dGQVZGUwB7fyhtkGPScjDP0T1pzf0V6pO71N1vd8c-FJ9_IROGx34_0luimfEfpSM3CBpAWpL_PpG1RwmmA0SwTBb3Ygpewiam9yXMzwA5OhOjsPxW8ahjwqs3oGNQVL69w4PED`);
  equal((await picture(old)).slice(0, 4), [51, 102, 153, 255], "the picture of an old link");
  await old.context().close();
});

await check("a broken link is said to be one", async () => {
  const other = await open({}, `${home}#9:abc`);
  holds((await text(other, "#problems")).includes("version 9"), "the reason");
  await other.context().close();
});

await check("puzzles are checked by the page", async () => {
  for (const [name, file] of [["Find the hazard", "puzzle_hazard_solved.qasm"], ["Make it shorter", "puzzle_shorter_solved.wgsl"]]) {
    await page.selectOption("#example", name);
    await ready(page);
    holds(!(await page.locator("#sentence.solved").count()), `${name} is not solved yet`);
    const solution = readFileSync(join(import.meta.dirname, file), "utf8");
    await write(page, extname(file).slice(1), solution);
    holds((await text(page, "#sentence")).startsWith("Solved"), `${name} is solved`);
  }
});

await check("hostile sources leave the page usable", async () => {
  const deep = "(".repeat(20000);
  const sources = [
    ["wgsl", `@fragment fn fs_main() -> @location(0) vec4<f32> { return vec4(${deep}`],
    ["wgsl", "@fragment fn fs_main() -> @location(0) vec4<f32> { loop { } return vec4(1.0); }"],
    ["wgsl", `@fragment fn fs_main() -> @location(0) vec4<f32> { var x = 1.0; ${"x = x * 1.1; ".repeat(4000)} return vec4(x); }`],
    ["wgsl", "\u0000\uFFFF 💥 struct struct struct"],
    ["qasm", ".rep i, 1000000000\nnop\n.endr"],
    ["qasm", ".macro m\nm\n.endm\nm"],
    ["qasm", ".stage fragment\n.output color\n:a\nbrr -, :a\nnop\nnop\nnop"],
    ["qasm", `mov r0, ${deep}`],
  ];
  for (const [language, source] of sources) {
    await page.selectOption("#language", language);
    await page.locator(".cm-content").focus();
    await page.keyboard.press("Control+a");
    await page.keyboard.insertText(source);
    // A person waits for a moment, and stops what takes longer.
    await page.waitForFunction(() => document.body.dataset.state === "ready", undefined, { timeout: 3000 }).catch(() => page.click("#stop"));
    await ready(page);
  }
  await write(page, "wgsl", "@fragment fn fs_main() -> @location(0) vec4<f32> { return vec4(1.0, 0.0, 0.0, 1.0); }");
  equal((await picture(page)).slice(0, 4), [255, 0, 0, 255], "the picture afterwards");
});

await check("everything is reached by keys alone", async () => {
  const other = await open();
  await other.locator("#picture").focus();
  await other.keyboard.press("ArrowRight");
  await other.keyboard.press("Shift+ArrowDown");
  await other.keyboard.press("Enter");
  await other.locator("#tab-pixel .history button").first().focus();
  await other.keyboard.press("Enter");
  await other.locator("#tab-step .chips button").first().focus();
  await other.keyboard.press("Enter");
  await other.waitForFunction(() => document.getElementById("position")?.innerText.startsWith("1 executed"));
  // Escape and Tab leave the editor.
  await other.locator(".cm-content").focus();
  await other.keyboard.press("Escape");
  await other.keyboard.press("Tab");
  holds(await other.evaluate(() => !document.activeElement.closest(".cm-editor")), "the editor lets the focus go");
  await other.context().close();
});

await check("it fits a phone", async () => {
  const phone = await open({ viewport: { width: 390, height: 780 }, deviceScaleFactor: 2, hasTouch: true });
  for (const view of ["source", "picture", "code", "cost"]) {
    await phone.click(`#see-${view}`);
    const wide = await phone.evaluate(() => document.documentElement.scrollWidth);
    holds(wide <= 390, `${view} is ${wide} pixels wide`);
    await phone.screenshot({ path: join(screenshots, `phone-${view}.png`) });
  }
  await phone.context().close();
});

await check("light and dark", async () => {
  for (const colorScheme of ["light", "dark"]) {
    const other = await open({ colorScheme });
    await other.screenshot({ path: join(screenshots, `wide-${colorScheme}.png`) });
    await other.locator("#picture").click({ position: { x: 300, y: 150 } });
    await other.click("#tab-pixel .history button");
    for (let n = 0; n < 12; n += 1) await other.click('[data-command="step"]');
    await other.waitForFunction(() => document.getElementById("position").innerText.startsWith("12 executed"));
    await other.screenshot({ path: join(screenshots, `step-${colorScheme}.png`) });
    await other.click("#open-cost");
    await other.check("#tiles");
    await other.screenshot({ path: join(screenshots, `cost-${colorScheme}.png`) });
    await other.context().close();
  }
});

await check("no error on the console, no request to elsewhere", () => equal(complaints, [], "complaints"));

// What it costs a person. Nothing here can fail: times depend on the machine.
{
  const started = performance.now();
  const other = await open();
  const first = await other.evaluate(() => performance.now());
  const times = [];
  for (let n = 0; n < 12; n += 1) {
    await other.evaluate((n) => {
      const slider = document.getElementById("time");
      slider.value = String(n);
      slider.dispatchEvent(new Event("input"));
    }, n);
    await ready(other);
    times.push(Number(await other.evaluate(() => document.body.dataset.took)));
  }
  times.sort((a, b) => a - b);
  console.log(`measured: first picture with its costs after ${(first / 1000).toFixed(2)} s, the planet at 320x180 in ${times[6]} ms a frame (${(performance.now() - started).toFixed(0)} ms in all)`);
  await other.context().close();
}

await browser.close();
server.close();
process.exit(failed ? 1 : 0);
