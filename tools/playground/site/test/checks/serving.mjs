// The server that reloads the page: on a copy of its sources, so that a file can change.

import { spawn } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { check, equal, holds, module, open, root, screenshots, site } from "../browser.mjs";

const copy = join(screenshots, "../changed");
const served = join(copy, "served");

// The page's sources, and those of others that it bundles.
function copied() {
  rmSync(copy, { recursive: true, force: true });
  mkdirSync(copy, { recursive: true });
  for (const path of ["tools/playground/site", "kernel/renderer/guide/shaders", "kernel/compute/shaders", "qpu-shaders/shaders"]) {
    cpSync(join(root, path), join(copy, path), { recursive: true });
  }
  cpSync(site, served, { recursive: true });
}

await check("the served page reloads when a file changes", async () => {
  copied();
  const folder = join(copy, "tools/playground/site");
  const server = spawn(process.execPath, [join(folder, "bundle.mjs"), served, module, "0"], { stdio: ["ignore", "ignore", "pipe"] });
  try {
    const lines = createInterface(server.stderr);
    const address = await new Promise((resolve, reject) => {
      lines.on("line", (line) => resolve(/http:\/\/localhost:\d+\//.exec(line)?.[0]));
      server.on("exit", (code) => reject(new Error(`the server ended with ${code}`)));
    });
    const page = await open({}, address);
    holds(await page.evaluate(() => crossOriginIsolated), "it is isolated");
    const changes = [
      ["style.css", (text) => text.replace("--accent: light-dark(#b3243c", "--accent: light-dark(#123456")],
      ["index.html", (text) => text.replace("<title>VideoCore IV playground", "<title>Changed")],
      ["examples/plasma.wgsl", (text) => `// changed\n${text}`],
      ["src/page.js", (text) => `document.body.dataset.changed = "yes";\n${text}`],
    ];
    for (const [name, change] of changes) {
      const reloaded = page.waitForEvent("load", { timeout: 60000 });
      const path = join(folder, name);
      const before = readFileSync(path, "utf8");
      holds(change(before) !== before, `${name} is to change`);
      writeFileSync(path, change(before));
      await reloaded.catch(() => {
        throw new Error(`${name} has changed, and the page was not loaded again`);
      });
    }
    await page.waitForFunction(() => document.body.dataset.changed === "yes" && document.body.dataset.state === "ready");
    equal(await page.title(), "Changed", "the title");
    equal(await page.evaluate(() => getComputedStyle(document.documentElement).getPropertyValue("--accent").includes("#123456")), true, "the style");
    await page.selectOption("#example", "Plasma");
    holds((await page.locator(".cm-content").innerText()).startsWith("// changed"), "the example");
    await page.context().close();
  } finally {
    server.kill();
  }
});
