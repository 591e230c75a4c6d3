// Bundles the page: `node bundle.mjs FOLDER MODULE [PORT]`. With a port it serves the folder, and bundles again what changes.

import { createRequire } from "node:module";
import { join } from "node:path";

const esbuild = createRequire(import.meta.url)("esbuild");
const [outdir, module, port] = process.argv.slice(2);
const reload = "globalThis.window && new EventSource('/esbuild').addEventListener('change', () => location.reload());";

const options = {
  absWorkingDir: import.meta.dirname,
  entryPoints: ["src/page.js", "src/worker.js"],
  bundle: true,
  minify: !port,
  format: "esm",
  target: "es2022",
  loader: { ".wgsl": "text", ".qasm": "text" },
  alias: { "playground-module": module },
  // Packages are installed elsewhere, see `cargo xtask playground`.
  nodePaths: [process.env.NODE_PATH],
  legalComments: "linked",
  logLevel: "warning",
  outdir,
  ...(port ? { banner: { js: reload } } : {}),
};

if (port) {
  const context = await esbuild.context(options);
  await context.watch();
  await context.serve({ host: "127.0.0.1", port: Number(port), servedir: outdir });
  console.error(`==> http://localhost:${port}/, until Ctrl-C; changes in ${join(import.meta.dirname, "src")} reload the page`);
} else {
  await esbuild.build(options);
}
