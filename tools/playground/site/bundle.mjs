// Bundles the page: `node bundle.mjs FOLDER MODULE [PORT]`. With a port it serves the folder, and bundles or copies again what changes.

import { copyFileSync, watch } from "node:fs";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { extname, join, normalize, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const esbuild = createRequire(import.meta.url)("esbuild");
const [folder, module, port] = process.argv.slice(2);
const outdir = resolve(folder);
const here = fileURLToPath(new URL(".", import.meta.url));
// The page has the number of the state that it was served in, is told the present one whenever it connects or something changes, and loads itself again if they
// differ.
const reload = `if (globalThis.window) {
  const own = document.querySelector("meta[name=state]").content;
  new EventSource("/changes").onmessage = ({ data }) => data !== own && location.reload();
}`;

const options = {
  absWorkingDir: here,
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
// Another server begins with another number.
let state = Date.now();
const present = () => `data: ${state}\n\n`;
function tell() {
  state += 1;
  for (const response of listeners) response.write(present());
}

async function answer(request, response) {
  const path = decodeURIComponent(new URL(request.url, "http://localhost").pathname);
  if (path === "/changes") {
    response.writeHead(200, { ...HEADERS, "content-type": "text/event-stream" }).write(present());
    listeners.add(response);
    response.on("close", () => listeners.delete(response));
    return;
  }
  const name = normalize(path.endsWith("/") ? `${path}index.html` : path);
  try {
    let content = await readFile(join(outdir, name));
    if (name.endsWith(".html")) content = content.toString().replace("</head>", `<meta name="state" content="${state}">\n</head>`);
    response.writeHead(200, { ...HEADERS, "content-type": TYPES[extname(name)] ?? "application/octet-stream" }).end(content);
  } catch {
    response.writeHead(404, HEADERS).end("there is no such file\n");
  }
}

// What is copied as it is comes into the folder again when it changes. An editor may write a file in several steps.
function copyChanges() {
  const waiting = new Map();
  watch(here, (_, name) => {
    if (!["index.html", "style.css"].includes(name)) return;
    clearTimeout(waiting.get(name));
    waiting.set(name, setTimeout(() => {
      try {
        copyFileSync(join(here, name), join(outdir, name));
        tell();
      } catch (error) {
        console.error(String(error));
      }
    }, 50));
  });
}

if (port) {
  // The bundler is a process of its own, which could stay behind.
  process.on("SIGTERM", () => void esbuild.stop().then(() => process.exit()));
  // Nothing is served before the first bundle is there: what was in the folder before does not ask for changes.
  let isFirst = true;
  await new Promise((resolve, reject) => {
    const ended = ({ errors }) => {
      if (!isFirst && errors.length === 0) tell();
      isFirst = false;
      resolve();
    };
    const plugins = [{ name: "told", setup: (build) => build.onEnd(ended) }];
    esbuild.context({ ...options, banner: { js: reload }, plugins }).then((context) => context.watch()).catch(reject);
  });
  copyChanges();
  const server = createServer((request, response) => answer(request, response).catch(() => response.destroy()));
  server.on("error", (error) => {
    console.error(error.code === "EADDRINUSE" ? `port ${port} is in use: --serve PORT takes another` : String(error));
    process.exit(1);
  });
  server.listen(Number(port), "127.0.0.1", () => console.error(`==> http://localhost:${server.address().port}/, until Ctrl-C; changes in ${here} reload the page`));
} else {
  await esbuild.build(options);
}
