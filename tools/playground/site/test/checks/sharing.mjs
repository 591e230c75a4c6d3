// Links and downloads.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { check, equal, example, holds, home, open, picture, ready, root, text } from "../browser.mjs";

const page = await open();

await check("a shared link opens to the same source and picture", async () => {
  await example(page, "Plasma");
  await page.locator("#settings input").first().fill("0.2");
  await ready(page);
  const before = await picture(page);
  await page.click("#share");
  await page.waitForFunction(() => location.hash.startsWith("#1:"));
  const other = await open({}, page.url());
  equal(await text(other, ".cm-content"), await text(page, ".cm-content"), "the source");
  holds((await picture(other)).equals(before), "the picture");
  await other.context().close();
  // A link of version 1, as other programs make it: 0.2, 0.4 and 0.6 of 255.
  const old = await open({}, `${home}#1:HYntCoIwFEBf5XJ_KSyZJkIW4pvExbY1mNP2YZH47m39OXDO2dGQVZGUwB7fyhtkGPScjDP0T1pzf0V6pO71N1vd8c-FJ9_IROGx34_0luimfEfpSM3CBpAWpL_PpG1RwmmA0SwTBb3Ygpewiam9yXMzwA5OhOjsPxW8ahjwqs3oGNQVL69w4PED`);
  equal([...(await picture(old)).subarray(0, 4)], [51, 102, 153, 255], "the picture of an old link");
  await old.context().close();
});

await check("a broken link is said to be one", async () => {
  const other = await open({}, `${home}#9:abc`);
  holds((await text(other, "#problems")).includes("version 9"), "the reason");
  await other.context().close();
});

await check("a link keeps the memory of a compute shader", async () => {
  await example(page, "Steps to 1");
  await page.getByLabel("given[3]", { exact: true }).fill("27");
  await page.getByLabel("given[3]", { exact: true }).blur();
  await ready(page);
  await page.click("#share");
  await page.waitForFunction(() => document.getElementById("share").innerText !== "Share");
  const other = await open({}, page.url());
  // 27 takes 111 steps to 1.
  equal(await other.locator("#after-steps output").nth(3).innerText(), "111", "the result");
  await other.context().close();
});

// The files of a ZIP archive: names and contents, by the directory at its end [PKWARE APPNOTE 4.3].
function unzip(bytes) {
  const end = bytes.length - 22;
  holds(bytes.readUInt32LE(end) === 0x06054b50, "the end of the archive");
  let at = bytes.readUInt32LE(end + 16);
  return Array.from({ length: bytes.readUInt16LE(end + 10) }, () => {
    holds(bytes.readUInt32LE(at) === 0x02014b50, "an entry of the directory");
    const [size, length, from] = [bytes.readUInt32LE(at + 24), bytes.readUInt16LE(at + 28), bytes.readUInt32LE(at + 42)];
    const name = bytes.toString("utf8", at + 46, at + 46 + length);
    holds(bytes.readUInt32LE(from) === 0x04034b50 && bytes.toString("utf8", from + 30, from + 30 + length) === name, `the header of ${name}`);
    at += 46 + length;
    return [name, bytes.subarray(from + 30 + length, from + 30 + length + size)];
  });
}

async function downloaded(button) {
  await page.locator(".menu").evaluate((menu) => (menu.open = true));
  const [download] = await Promise.all([page.waitForEvent("download"), page.click(button)]);
  return readFileSync(await download.path());
}

await check("source, job folder and crate are downloaded", async () => {
  await example(page, "Rings");
  const source = (await downloaded("#save-source")).toString();
  holds(source.includes("fs_main"), source);
  const crate = unzip(await downloaded("#save-crate"));
  equal(crate.map(([name]) => name), ["shaders/Cargo.toml", "shaders/build.rs", "shaders/src/lib.rs", "shaders/shaders/playground.wgsl"], "the files of the crate");
  equal(crate[1][1].toString(), readFileSync(join(root, "kernel/renderer/guide/shaders/build.rs"), "utf8"), "the build script");
  equal(crate[3][1].toString(), source, "the source in the crate");
  for (const name of ["Rings", "Lighthouse", "a x + y"]) {
    await example(page, name);
    const job = new Map(unzip(await downloaded("#save-job")));
    const json = JSON.parse(job.get("job/job.json").toString());
    holds(json && [...job.keys()].some((name) => name.startsWith("job/mem")), `the job of ${name}`);
  }
});

await page.context().close();
