// The page in a browser without a window: a server, what a person does, and what is compared.

import { createRequire } from "node:module";
import { createServer } from "node:http";
import { mkdirSync, readFileSync } from "node:fs";
import { basename, extname, join } from "node:path";
import { fileURLToPath } from "node:url";

const { chromium } = createRequire(import.meta.url)("playwright-core");
export const [site, expected, screenshots, executablePath, module] = process.argv.slice(2);
mkdirSync(screenshots, { recursive: true });
// The folder of the page, and that of the repository.
export const pageFolder = fileURLToPath(new URL("..", import.meta.url));
export const root = join(pageFolder, "../../..");
export const examples = join(pageFolder, "examples");

// The page is served below a path, as any file host would serve it; below another one with the headers that isolate it from other origins.
const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".wasm": "application/wasm" };
const ISOLATED = { "cross-origin-opener-policy": "same-origin", "cross-origin-embedder-policy": "require-corp" };
const server = createServer((request, response) => {
  const [, where, name] = /^\/(some\/where|isolated)\/([^?]*)/.exec(request.url) ?? [];
  if (!where) return response.writeHead(404).end();
  const file = basename(name || "index.html");
  try {
    const content = readFileSync(join(site, file));
    response.writeHead(200, { "content-type": TYPES[extname(file)] ?? "application/octet-stream", ...(where === "isolated" ? ISOLATED : {}) }).end(content);
  } catch {
    response.writeHead(404).end();
  }
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const origin = `http://127.0.0.1:${server.address().port}`;
export const home = `${origin}/some/where/`;
export const isolated = `${origin}/isolated/`;

const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
// What should not happen: errors on the console, requests to elsewhere.
export const complaints = [];
export const requested = new Set();

export async function open(options = {}, address = home) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options });
  const page = await context.newPage();
  page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("request", (request) => {
    const url = request.url();
    requested.add(basename(new URL(url).pathname));
    if (!url.startsWith(new URL(address).origin) && !url.startsWith("data:") && !url.startsWith("blob:")) complaints.push(`a request to ${url}`);
  });
  await page.goto(address);
  await ready(page);
  return page;
}

export async function close() {
  await browser.close();
  server.close();
}

// Everything that was asked for has been shown.
export const ready = (page) => page.waitForFunction(() => document.body.dataset.state === "ready", undefined, { timeout: 60000 });

export async function example(page, name) {
  await page.selectOption("#example", name);
  await ready(page);
}

// A source in place of the one in the editor, as if it were pasted.
export async function write(page, language, text) {
  await page.selectOption("#language", language);
  await page.locator(".cm-content").focus();
  await page.keyboard.press("Control+a");
  await page.keyboard.insertText(text);
  await ready(page);
}

// Files that are dropped onto the page: names and contents.
export async function drop(page, files) {
  await page.evaluate((files) => {
    const transfer = new DataTransfer();
    for (const [name, type, bytes] of files) transfer.items.add(new File([new Uint8Array(bytes)], name, { type }));
    document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: transfer, bubbles: true, cancelable: true }));
  }, files.map(([name, type, content]) => [name, type, [...Buffer.from(content)]]));
  await page.waitForTimeout(100);
  await ready(page);
}

export async function picture(page) {
  return Buffer.from(await page.evaluate(() => {
    const canvas = document.getElementById("picture");
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    let text = "";
    for (let at = 0; at < data.length; at += 8192) text += String.fromCharCode(...data.subarray(at, at + 8192));
    return btoa(text);
  }), "base64");
}

// The picture is the one that the host has drawn.
export async function isTheHosts(page, name) {
  const wanted = readFileSync(join(expected, `${name}.rgba`));
  const actual = await picture(page);
  holds(actual.equals(wanted), `${name}: pixel ${actual.findIndex((byte, at) => byte !== wanted[at]) >> 2} differs`);
}

export const text = (page, selector) => page.locator(selector).innerText();

export const says = (page, id, words) => page.waitForFunction(([id, words]) => document.getElementById(id)?.innerText.includes(words), [id, words]);

export function equal(actual, wanted, what) {
  if (JSON.stringify(actual) !== JSON.stringify(wanted)) throw new Error(`${what}: ${JSON.stringify(actual)?.slice(0, 300)} instead of ${JSON.stringify(wanted).slice(0, 300)}`);
}

export function holds(condition, what) {
  if (!condition) throw new Error(what);
}

export let failed = 0;
export async function check(name, act) {
  try {
    await act();
    console.log(`ok ${name}`);
  } catch (error) {
    failed += 1;
    console.log(`FAILED ${name}: ${String(error.message).split("\n").slice(0, 3).join(" ")}`);
  }
}

export const measured = (text) => console.log(`measured: ${text}`);
