// Sources that nobody would write, and those that the assembler's fuzzer begins with.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { check, equal, holds, open, picture, ready, root, write } from "../browser.mjs";

const corpus = join(root, "tools/qpu/fuzz/corpus/assemble");
const page = await open();

await check("hostile sources, those of the fuzzers too, leave the page usable", async () => {
  const seeds = readdirSync(corpus);
  holds(seeds.length >= 10, "the inputs of the fuzzer");
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
    ["wgsl", "@compute @workgroup_size(16) fn cs_main() { loop { } }"],
    ["wgsl", "@group(0) @binding(0) var<storage, read_write> a: array<u32>; @compute @workgroup_size(64) fn cs_main() { workgroupBarrier(); a[4294967295u] = 1u; }"],
    ["wgsl", `struct S { ${Array.from({ length: 3000 }, (_, n) => `m${n}: f32,`).join(" ")} } @group(0) @binding(0) var<uniform> s: S; @fragment fn fs_main() -> @location(0) vec4<f32> { return vec4(s.m2999); }`],
    ...seeds.map((name) => ["qasm", readFileSync(join(corpus, name), "utf8")]),
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
  equal([...(await picture(page)).subarray(0, 4)], [255, 0, 0, 255], "the picture afterwards");
});

await page.context().close();
