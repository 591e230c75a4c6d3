// Bundles the page: `node bundle.mjs FOLDER MODULE [PORT]`. With a port it serves the folder, and bundles or copies again what changes.

import { copyFileSync, watch } from "node:fs";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { extname, join, normalize } from "node:path";

const esbuild = createRequire(import.meta.url)("esbuild");
const [outdir, module, port] = process.argv.slice(2);
// The page asks for changes, and loads itself again when there is one. After a while without a server it has missed what happened.
const reload = `if (globalThis.window) {
  const changes = new EventSource("/changes");
  let lost = false;
  changes.onmessage = () => location.reload();
  changes.onerror = () => (lost = true);
  changes.onopen = () => lost && location.reload();
}`;

const options = {
  absWorkingDir: import.meta.dirname,
  entryPoints: ["src/page.js", "src/worker.js"],
  bundle: true,
  minify: !port,
  format: "esm",
  target: "es2022",
  loader: { ".wgsl": "text", ".qasm": "text", ".rs": "text" },
  alias: { "playground-module": module },
  // Packages are installed elsewhere, see `cargo xtask playground`.
  nodePaths: [process.env.NODE_PATH],
  legalComments: "linked",
  logLevel: "warning",
  outdir,
};

const TYPES = {
  ".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".txt": "text/plain; charset=utf-8", ".wasm": "application/wasm",
};
// With these two the page is isolated from other origins, so that it starts a worker for each core.
const HEADERS = { "cross-origin-opener-policy": "same-origin", "cross-origin-embedder-policy": "require-corp", "cache-control": "no-cache" };

const listeners = new Set();
const tell = () => listeners.forEach((response) => response.write("data: changed\n\n"));

async function answer(request, response) {
  const path = decodeURIComponent(new URL(request.url, "http://localhost").pathname);
  if (path === "/changes") {
    response.writeHead(200, { ...HEADERS, "content-type": "text/event-stream" }).write("\n");
    listeners.add(response);
    response.on("close", () => listeners.delete(response));
    return;
  }
  const name = normalize(path.endsWith("/") ? `${path}index.html` : path);
  try {
    const content = await readFile(join(outdir, name));
    response.writeHead(200, { ...HEADERS, "content-type": TYPES[extname(name)] ?? "application/octet-stream" }).end(content);
  } catch {
    response.writeHead(404, HEADERS).end("there is no such file\n");
  }
}

// What is copied as it is comes into the folder again when it changes. An editor may write a file in several steps.
function copyChanges() {
  const waiting = new Map();
  watch(import.meta.dirname, (_, name) => {
    if (!["index.html", "style.css"].includes(name)) return;
    clearTimeout(waiting.get(name));
    waiting.set(name, setTimeout(() => {
      try {
        copyFileSync(join(import.meta.dirname, name), join(outdir, name));
        tell();
      } catch (error) {
        console.error(String(error));
      }
    }, 50));
  });
}

if (port) {
  let builds = 0;
  const told = { name: "told", setup: (build) => build.onEnd(({ errors }) => void (errors.length === 0 && builds++ > 0 && tell())) };
  const context = await esbuild.context({ ...options, banner: { js: reload }, plugins: [told] });
  await context.watch();
  copyChanges();
  const server = createServer((request, response) => answer(request, response).catch(() => response.destroy()));
  server.on("error", (error) => {
    console.error(error.code === "EADDRINUSE" ? `port ${port} is in use: --serve PORT takes another` : String(error));
    process.exit(1);
  });
  server.listen(Number(port), "127.0.0.1", () => console.error(`==> http://localhost:${server.address().port}/, until Ctrl-C; changes in ${import.meta.dirname} reload the page`));
} else {
  await esbuild.build(options);
}
