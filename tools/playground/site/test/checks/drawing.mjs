// Pictures: those of the host, models, textures, cube maps, several workers.

import { readdirSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { extname, join } from "node:path";
import { check, drop, equal, example, examples, expected, holds, isolated, isTheHosts, measured, open, picture, ready, text, write } from "../browser.mjs";

const page = await open();
const color = async () => [...(await picture(page)).subarray(4 * (320 * 90 + 160), 4 * (320 * 90 + 160) + 3)];

await check("pictures are the host's, byte for byte", async () => {
  const names = readdirSync(expected).map((name) => name.slice(0, -5)).filter((name) => !name.includes("."));
  holds(names.length >= 25, `only ${names.length} pictures`);
  for (const name of names) {
    const file = readdirSync(examples).find((other) => other.startsWith(`${name}.`));
    await write(page, extname(file).slice(1), readFileSync(join(examples, file), "utf8"));
    if ((await page.inputValue("#shape")) !== "quad") await page.selectOption("#shape", "quad"), await ready(page);
    await isTheHosts(page, name);
  }
});

await check("bodies, the lighthouse and a cube map are the host's, too", async () => {
  for (const [name, picture] of [["Lighthouse", "lighthouse.model"], ["Mirror", "mirror.sphere"], ["Textured", "textured.cube"], ["Triangle", "triangle.triangle"]]) {
    await example(page, name);
    await isTheHosts(page, picture);
  }
});

// A square that is seen from the front and from the side.
const CROSSED = "v -1 -1 0\nv 1 -1 0\nv 1 1 0\nv -1 1 0\nf 1 2 3 4\nv 0 -1 -1\nv 0 -1 1\nv 0 1 1\nv 0 1 -1\nf 5 6 7 8\n";
const FLAT = `@group(0) @binding(0) var<uniform> matrix: mat4x4<f32>;
struct Corner { @builtin(position) position: vec4<f32>, @location(0) color: vec3<f32> }
@vertex fn vs_main(@location(0) place: vec3<f32>, @location(1) color: vec3<f32>) -> Corner { return Corner(matrix * vec4(place, 1.0), color); }
@fragment fn fs_main(corner: Corner) -> @location(0) vec4<f32> { return vec4(corner.color, 1.0); }`;

// A glTF file of one triangle with a material of this linear colour.
function glb(color) {
  const places = Buffer.from(new Float32Array([-1, -1, 0, 1, -1, 0, 0, 1, 0]).buffer);
  const json = {
    asset: { version: "2.0" }, scenes: [{ nodes: [0] }], nodes: [{ mesh: 0 }], meshes: [{ primitives: [{ attributes: { POSITION: 0 }, material: 0 }] }],
    materials: [{ pbrMetallicRoughness: { baseColorFactor: [...color, 1] }, doubleSided: true }],
    accessors: [{ bufferView: 0, componentType: 5126, count: 3, type: "VEC3", min: [-1, -1, 0], max: [1, 1, 0] }],
    bufferViews: [{ buffer: 0, byteLength: 36 }], buffers: [{ byteLength: 36 }],
  };
  let text = Buffer.from(JSON.stringify(json));
  text = Buffer.concat([text, Buffer.alloc((4 - (text.length % 4)) % 4, " ")]);
  const words = (...list) => Buffer.from(new Uint32Array(list).buffer);
  return Buffer.concat([words(0x46546c67, 2, 12 + 8 + text.length + 8 + places.length, text.length, 0x4e4f534a), text, words(places.length, 0x004e4942), places]);
}

await check("models that are dropped onto the page are drawn", async () => {
  await example(page, "Plasma");
  await drop(page, [["crossed.obj", "", CROSSED]]);
  equal(await page.inputValue("#shape"), "model", "the shape");
  holds((await text(page, ".cm-content")).includes("image_sampler"), "a shader that draws bodies comes with it");
  await write(page, "wgsl", FLAT);
  // The gray of files without colours, 0.8 of 255.
  equal(await color(), [204, 204, 204], "the colour of an OBJ file");
  await drop(page, [["red.glb", "model/gltf-binary", glb([1, 0.2, 0])]]);
  // Linear 0.2 is 0.481 with an exponent of 1 / 2.2.
  equal(await color(), [255, 123, 0], "the colour of a glTF file");
  await page.selectOption("#shape", "lighthouse");
  await ready(page);
  await page.selectOption("#shape", "model");
  await ready(page);
  equal(await color(), [255, 123, 0], "after the lighthouse it is there again");
});

await check("files that cannot be used are refused by a sentence, and what was there stays", async () => {
  for (const [name, type, content, words] of [
    ["broken.glb", "", "glTF\u0001\u0000", "broken.glb: "],
    ["text.obj", "", "this is a letter", "text.obj: it has no triangles"],
    ["far.obj", "", "v 0 0 0\nv 1 0 0\nf 1 2 99999999999\n", "far.obj: line 3"],
    ["parts.gltf", "", '{"asset":{"version":"2.0"},"buffers":[{"byteLength":4,"uri":"parts.bin"}]}', "a .glb file has all parts in one"],
    ["broken.png", "image/png", "no picture", "broken.png: it is no picture"],
    ["letter.pdf", "application/pdf", "%PDF", "letter.pdf: pictures, models"],
  ]) {
    await drop(page, [[name, type, content]]);
    const said = await text(page, "#problems");
    holds(said.includes(words), `${name}: ${said}`);
  }
  await drop(page, [["a.obj", "", CROSSED], ["b.obj", "", CROSSED]]);
  holds((await text(page, "#problems")).includes("six pictures"), "two files");
  equal(await color(), [255, 123, 0], "the model");
});

// A picture of one colour as a PNG file.
const png = (rgb) => page.evaluate(async (rgb) => {
  const canvas = new OffscreenCanvas(4, 4);
  const context = canvas.getContext("2d");
  context.fillStyle = `rgb(${rgb})`;
  context.fillRect(0, 0, 4, 4);
  return [...new Uint8Array(await (await canvas.convertToBlob()).arrayBuffer())];
}, rgb);

await check("a picture that is dropped is the texture", async () => {
  await example(page, "A lookup by its words");
  await drop(page, [["blue.png", "image/png", Buffer.from(await png([10, 20, 200]))]]);
  equal(await color(), [10, 20, 200], "the colour");
});

await check("six pictures that are dropped are the faces of a cube map, by their names", async () => {
  const faces = [["right", "1, 0.1, 0.1"], ["left", "-1, 0.1, 0.1"], ["top", "0.1, 1, 0.1"], ["bottom", "0.1, -1, 0.1"], ["front", "0.1, 0.1, 1"], ["back", "0.1, 0.1, -1"]];
  const colors = faces.map((_, at) => [20 + 30 * at, 250 - 40 * at, 100]);
  const files = await Promise.all(faces.map(async ([name], at) => [`sky_${name}.png`, "image/png", Buffer.from(await png(colors[at]))]));
  await drop(page, [...files].reverse());
  for (const [at, [name, direction]] of faces.entries()) {
    await write(page, "wgsl", `@group(0) @binding(0) var around: texture_cube<f32>; @group(0) @binding(1) var filtered: sampler;
@fragment fn fs_main() -> @location(0) vec4<f32> { return textureSample(around, filtered, vec3<f32>(${direction})); }`);
    equal(await color(), colors[at], name);
  }
});

await check("the lamp is at the mouse", async () => {
  await example(page, "Mouse");
  const box = await page.locator("#picture").boundingBox();
  await page.mouse.move(box.x + box.width * 0.25, box.y + box.height * 0.75);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.25 + 1, box.y + box.height * 0.75);
  await ready(page);
  await page.mouse.up();
  const pixels = await picture(page);
  const light = (x, y) => pixels[4 * (320 * y + x)];
  const [here, mirrored] = [light(80, 135), light(80, 45)];
  holds(here > 250 && mirrored < 100, `${here} at the mouse, ${mirrored} at its mirror image`);
});

await page.context().close();

// Frames a second of an animation.
async function rate(page) {
  await example(page, "Planet");
  await page.click("#play");
  await page.waitForFunction(() => Number(document.getElementById("picture").dataset.drawn) > 4);
  const [drawn, started] = [Number(await page.locator("#picture").getAttribute("data-drawn")), performance.now()];
  await page.waitForTimeout(3000);
  const frames = Number(await page.locator("#picture").getAttribute("data-drawn")) - drawn;
  const seconds = (performance.now() - started) / 1000;
  // Two pages would share the cores.
  await page.click("#play");
  await ready(page);
  return frames / seconds;
}

await check("several workers give the answers of one", async () => {
  const [one, several] = [await open(), await open({}, isolated)];
  const counts = await Promise.all([one, several].map((page) => page.evaluate(() => [crossOriginIsolated, Number(document.body.dataset.workers)])));
  equal(counts, [[false, 1], [true, Math.min(availableParallelism(), 4)]], "isolation and workers");
  for (const name of ["Flight", "Lighthouse", "Waves", "a x + y"]) {
    for (const page of [one, several]) await example(page, name), await page.click("#open-cost");
    equal((await picture(several)).equals(await picture(one)), true, `the picture of ${name}`);
    equal(await text(several, "#tab-cost"), await text(one, "#tab-cost"), `the cost of ${name}`);
  }
  const rates = [await rate(one), await rate(several)];
  await several.click("#play");
  // While it plays, a pixel is asked for and stepped through.
  await several.locator("#picture").click({ position: { x: 200, y: 100 } });
  await several.click("#tab-pixel .history button");
  await several.click('[data-command="step"]');
  await several.waitForFunction(() => document.getElementById("position")?.innerText.startsWith("1 executed"));
  holds(rates.every((rate) => rate > 0.5), `${rates} frames a second`);
  measured(`the planet at 320x180 plays at ${rates[0].toFixed(1)} frames a second with one worker, ${rates[1].toFixed(1)} with ${counts[1][1]}`);
  await one.context().close();
  await several.context().close();
});
