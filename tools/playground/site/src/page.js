// The page: what is typed is compiled, drawn, and shown with what it costs.

import { markLine, showCosts, showPrograms } from "./code.js";
import { element, get } from "./dom.js";
import { createEditor, select, setLanguage, setSource, showDiagnostics, source } from "./editor.js";
import { EXAMPLES } from "./examples.js";
import { showLists } from "./lists.js";
import { ask, setImage, stop } from "./model.js";
import * as pixel from "./pixel.js";
import { download, zip } from "./download.js";
import * as share from "./share.js";

const state = {
  language: "wgsl",
  example: undefined,
  time: 0,
  shape: "quad",
  size: "320x180",
  values: {},
  mouse: [0, 0],
};
let looked;
let earlier = { programs: [], costs: undefined };
let costs;
let playing = false;
let chosen = [160, 90];
// Stands above the problems of the source until that is edited.
let notice;
// The first picture of a puzzle, which is to stay the same.
let asked;

const settings = () => {
  const [width, height] = state.size.split("x").map(Number);
  return { width, height, time: state.time, mouse: state.mouse, shape: state.shape, values: state.values };
};

// ---- Looking at the source and drawing: one thing at a time, the newest only.

let wanted = { look: false, draw: false };
let working = false;

function want(what) {
  Object.assign(wanted, what);
  document.body.dataset.state = "busy";
  if (!working) work();
}

async function work() {
  working = true;
  while (wanted.look || wanted.draw) {
    const now = wanted;
    wanted = { look: false, draw: false };
    try {
      if (now.look) await look();
      if (looked?.drawable) await draw(now.look || now.costs);
    } catch (error) {
      report(error);
    }
  }
  working = false;
  if (!typing) document.body.dataset.state = "ready";
}

function report(error) {
  if (error.message === "stopped") {
    get("rate").textContent = "stopped";
    return;
  }
  playing = false;
  showPlaying();
  problem(error.message);
}

function problem(text) {
  get("problems").replaceChildren(element("p", { class: "error", text }));
}

async function look() {
  document.body.dataset.state = "busy";
  const text = source();
  const answer = await ask({ ask: "look", language: state.language, source: text });
  const isWrong = answer.diagnostics.some(({ error }) => error);
  if (!isWrong && looked?.programs.length) earlier = { programs: looked.programs, costs };
  showDiagnostics(answer.diagnostics);
  showProblems(answer.diagnostics, text);
  document.body.dataset.errors = String(answer.diagnostics.length);
  if (answer.programs.length || !isWrong) {
    looked = answer;
    showPrograms(answer.programs, earlier.programs);
    pixel.setProgram(answer.programs.find(({ stage }) => stage === "fragment") ?? answer.programs[0]);
    pixel.showNothing(answer.user);
    showSettings(answer.settings);
  } else {
    looked = { ...looked, drawable: false };
  }
  get("view-picture").classList.toggle("stale", !answer.drawable);
  if (!isWrong && !answer.drawable) judge();
}

function showProblems(diagnostics, text) {
  const line = (at) => text.slice(0, at).split("\n").length;
  get("problems").replaceChildren(
    ...(notice ? [element("p", { class: "error", text: notice })] : []),
    ...diagnostics.slice(0, 8).map(({ from, to, error, code, message, help }) =>
      element(
        "details",
        { class: error ? "error" : "warning" },
        element("summary", {}, element("button", { text: `line ${line(from)}`, click: () => select(from, to) }), code ? element("b", { text: code }) : undefined, message),
        help ? element("p", { text: help }) : undefined,
      ),
    ),
  );
}

async function draw(withCosts) {
  const answer = await ask({ ask: "draw", settings: settings(), costs: false }, true);
  const { width, height, bytes, taken, faults } = answer;
  const canvas = get("picture");
  if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
  const pixels = new Uint8ClampedArray(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let alpha = 3; alpha < pixels.length; alpha += 4) pixels[alpha] = 255;
  canvas.getContext("2d").putImageData(new ImageData(pixels, width, height), 0, 0);
  judge(pixels);
  canvas.dataset.drawn = String(Number(canvas.dataset.drawn ?? 0) + 1);
  get("rate").textContent = `${taken.toFixed(0)} ms`;
  document.body.dataset.took = taken.toFixed(1);
  if (faults.length) problem(`the model reports: ${faults[0]}`);
  if (withCosts && !playing) {
    ({ costs } = await ask({ ask: "draw", settings: settings(), costs: true }));
    showCosts(costs, earlier.costs);
    showLists(costs.lists);
    showTiles();
  }
}

// ---- Puzzles.

// Whether the puzzle is solved: in few enough instructions with the same picture, or without a complaint and without leaving anything out.
function judge(pixels) {
  const puzzle = EXAMPLES.find(({ name }) => name === state.example)?.puzzle;
  if (!puzzle || !looked) return;
  const { length } = looked.programs.at(-1).code;
  let solved;
  if (puzzle.kind === "shorter") {
    asked ??= pixels?.slice();
    const isSame = pixels && asked.length === pixels.length && asked.every((byte, at) => Math.abs(byte - pixels[at]) <= 1);
    solved = isSame && length <= puzzle.most;
  } else {
    solved = looked.diagnostics.length === 0 && length >= puzzle.least;
  }
  const sentence = get("sentence");
  sentence.classList.toggle("solved", Boolean(solved));
  sentence.textContent = solved ? `Solved: ${length} instructions.` : EXAMPLES.find(({ name }) => name === state.example).sentence;
}

// ---- The picture.

function showTiles() {
  const heat = get("heat");
  const isShown = get("tiles").checked && costs;
  heat.hidden = !isShown;
  if (!isShown) return;
  const { width, height } = get("picture");
  Object.assign(heat, { width, height });
  const context = heat.getContext("2d");
  const [tileWidth, tileHeight] = costs.tile_px;
  const most = Math.max(1, ...costs.tiles.map(([, , , , instructions]) => instructions));
  context.font = "10px system-ui, sans-serif";
  for (const [column, row, primitives, pixels, instructions] of costs.tiles) {
    context.fillStyle = `hsl(${40 - (40 * instructions) / most} 95% 50% / ${0.08 + (0.5 * instructions) / most})`;
    context.fillRect(column * tileWidth, row * tileHeight, tileWidth, tileHeight);
    context.strokeStyle = "rgb(255 255 255 / 0.5)";
    context.strokeRect(column * tileWidth + 0.5, row * tileHeight + 0.5, tileWidth, tileHeight);
    context.fillStyle = "white";
    context.fillText(`${primitives}`, column * tileWidth + 3, row * tileHeight + 11);
  }
}

function place(event) {
  const canvas = get("picture");
  const box = canvas.getBoundingClientRect();
  const inside = (part, whole) => Math.min(Math.max(Math.floor(part), 0), whole - 1);
  return [inside(((event.clientX - box.left) * canvas.width) / box.width, canvas.width), inside(((event.clientY - box.top) * canvas.height) / box.height, canvas.height)];
}

function showCross() {
  const canvas = get("picture");
  const cross = get("cross");
  cross.hidden = false;
  cross.style.left = `${(100 * (chosen[0] + 0.5)) / canvas.width}%`;
  cross.style.top = `${(100 * (chosen[1] + 0.5)) / canvas.height}%`;
}

function choose([x, y], withHistory = true) {
  chosen = [x, y];
  showCross();
  if (withHistory && looked?.drawable) {
    openTab("pixel");
    pixel.showPixel(settings(), x, y);
  }
}

function showPlaying() {
  get("play").textContent = playing ? "❚❚ Pause" : "▶ Play";
  get("play").setAttribute("aria-pressed", String(playing));
}

let lastTick;
function tick(now) {
  if (!playing) return;
  requestAnimationFrame(tick);
  if (working) return;
  state.time = (state.time + Math.min(now - (lastTick ?? now), 1000) / 1000) % 1000;
  lastTick = now;
  showTime();
  want({ draw: true });
}

function showTime() {
  get("time").value = String(state.time % 20);
  get("time-value").textContent = `${state.time.toFixed(2)} s`;
}

const GIVEN = ["time", "resolution", "mouse", "matrix", "eye", "viewport_half_width", "viewport_half_height", "viewport_z_scale", "viewport_z_offset"];

function showSettings(list) {
  const parent = get("settings");
  const own = list.filter(({ name, numbers }) => !GIVEN.includes(name) && numbers <= 4);
  parent.replaceChildren(
    ...own.map(({ name, numbers }) => {
      const values = (state.values[name] ??= { to_sun: [-0.75, 0.35, 0.56], air: [0.4, 0.54, 0.9] }[name]?.slice(0, numbers) ?? Array(numbers).fill(0.5));
      while (values.length < numbers) values.push(0.5);
      const slider = (at) =>
        element("input", { type: "range", min: "-1", max: "1", step: "0.01", value: String(values[at]), "aria-label": `${name}, number ${at}`, input: (event) => ((values[at] = Number(event.target.value)), want({ draw: true })) });
      return element("fieldset", {}, element("legend", { text: name }), Array.from({ length: numbers }, (_, at) => slider(at)));
    }),
  );
}

// ---- Tabs.

const TABS = [["code", "Code"], ["cost", "Cost"], ["pixel", "Pixel"], ["step", "Step"], ["lists", "Lists"]];
const VIEWS = [["source", "Source"], ["picture", "Picture"], ...TABS];

export function openTab(name) {
  for (const [other] of TABS) {
    get(`tab-${other}`).hidden = other !== name;
    get(`open-${other}`).setAttribute("aria-selected", String(other === name));
    get(`open-${other}`).tabIndex = other === name ? 0 : -1;
  }
  if (document.body.dataset.view !== "source" && document.body.dataset.view !== "picture") openView(name);
  else if (name !== "code") openView(name, true);
}

function openView(name, onlyNarrow = false) {
  if (onlyNarrow && !matchMedia("(max-width: 60rem)").matches) return;
  document.body.dataset.view = name;
  for (const [other] of VIEWS) get(`see-${other}`).setAttribute("aria-selected", String(other === name));
  if (name !== "source" && name !== "picture") {
    for (const [other] of TABS) get(`tab-${other}`).hidden = other !== name;
  }
}

function makeTabs() {
  const tab = ([name, label], prefix, open) => element("button", { role: "tab", id: `${prefix}-${name}`, text: label, click: () => open(name) });
  get("tabs").replaceChildren(...TABS.map((entry) => tab(entry, "open", openTab)));
  get("views").replaceChildren(...VIEWS.map((entry) => tab(entry, "see", openView)));
  for (const bar of [get("tabs"), get("views")]) {
    bar.addEventListener("keydown", (event) => {
      const move = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!move) return;
      const all = [...bar.children];
      const next = all[(all.indexOf(event.target) + move + all.length) % all.length];
      next.focus();
      next.click();
    });
  }
  openView("source");
  openTab("code");
}

// ---- Source and examples.

let typing;
let isLoading = false;

function load(next) {
  Object.assign(state, { time: 0, shape: "quad", values: {}, ...next });
  isLoading = true;
  setLanguage(state.language);
  setSource(next.source);
  isLoading = false;
  get("language").value = state.language;
  get("shape").value = state.shape;
  get("size").value = state.size;
  get("sentence").textContent = next.sentence ?? "";
  get("sentence").hidden = !next.sentence;
  looked = undefined;
  asked = undefined;
  get("sentence").classList.remove("solved");
  earlier = { programs: [], costs: undefined };
  costs = undefined;
  showTime();
  showCosts();
  showLists();
  want({ look: true });
}

function loadExample(name) {
  const example = EXAMPLES.find((other) => other.name === name) ?? EXAMPLES[0];
  state.example = example.name;
  get("example").value = example.name;
  load({ language: example.language, shape: example.shape ?? "quad", source: example.source, sentence: example.sentence, values: structuredClone(example.values ?? {}) });
}

async function begin() {
  makeTabs();
  pixel.setUp(openTab);
  const groups = Map.groupBy(EXAMPLES, ({ group }) => group);
  get("example").replaceChildren(...[...groups].map(([group, list]) => element("optgroup", { label: group }, list.map(({ name }) => element("option", { value: name, text: name })))));
  createEditor(get("editor"), {
    onChange() {
      if (isLoading) return;
      notice = undefined;
      clearTimeout(typing);
      document.body.dataset.state = "busy";
      typing = setTimeout(() => {
        typing = undefined;
        stop();
        want({ look: true });
      }, 200);
    },
    onCursor(at) {
      markLine(source().slice(0, at).split("\n").length);
    },
  });
  listen();
  try {
    const shared = await share.read(location.hash);
    if (shared) {
      get("example").selectedIndex = -1;
      state.example = undefined;
      load({ ...shared, sentence: "" });
      return;
    }
  } catch (error) {
    loadExample(EXAMPLES[0].name);
    notice = `The link cannot be opened: ${error.message}`;
    return;
  }
  loadExample(EXAMPLES[0].name);
}

function shared() {
  const { language, time, shape, size, values } = state;
  return { language, time, shape, size, values, source: source() };
}

function listen() {
  const on = (id, event, act) => get(id).addEventListener(event, act);
  on("example", "change", (event) => loadExample(event.target.value));
  on("language", "change", (event) => {
    state.language = event.target.value;
    setLanguage(state.language);
    want({ look: true });
  });
  on("play", "click", () => {
    playing = !playing;
    lastTick = undefined;
    showPlaying();
    if (playing) requestAnimationFrame(tick);
    else want({ draw: true, costs: true });
  });
  on("stop", "click", () => {
    playing = false;
    showPlaying();
    stop();
  });
  on("time", "input", (event) => {
    state.time = Number(event.target.value);
    showTime();
    want({ draw: true });
  });
  on("time", "change", () => want({ draw: true, costs: true }));
  on("shape", "change", (event) => {
    state.shape = event.target.value;
    want({ draw: true, costs: true });
  });
  on("size", "change", (event) => {
    state.size = event.target.value;
    want({ draw: true, costs: true });
  });
  on("tiles", "change", showTiles);
  on("picture", "click", (event) => choose(place(event)));
  on("picture", "mousemove", (event) => {
    const [x, y] = place(event);
    state.mouse = [x, get("picture").height - 1 - y];
    if (event.buttons && !playing) want({ draw: true });
  });
  on("picture", "keydown", (event) => {
    const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    const step = event.shiftKey ? 16 : 1;
    const { width, height } = get("picture");
    if (moves[event.key]) {
      const [dx, dy] = moves[event.key];
      const inside = (value, whole) => Math.min(Math.max(value, 0), whole - 1);
      choose([inside(chosen[0] + step * dx, width), inside(chosen[1] + step * dy, height)], false);
    } else if (event.key === "Enter") choose(chosen);
    else return;
    event.preventDefault();
  });
  on("tab-step", "keydown", pixel.keys);
  get("tab-step").tabIndex = 0;
  on("share", "click", async () => {
    const fragment = await share.write(shared());
    history.replaceState(undefined, "", fragment);
    try {
      await navigator.clipboard.writeText(location.href);
      get("share").textContent = "Link copied";
    } catch {
      get("share").textContent = "Link in the address bar";
    }
    setTimeout(() => (get("share").textContent = "Share"), 2500);
  });
  on("about-link", "click", (event) => (event.preventDefault(), get("about").showModal()));
  on("save-source", "click", () => download(`shader.${state.language}`, source()));
  on("save-crate", "click", () => download("shaders.zip", zip(crateFiles())));
  on("save-job", "click", async () => {
    try {
      const { files, bytes } = await ask({ ask: "job", settings: settings() }, true);
      let at = 0;
      const parts = files.map(([name, length]) => [`job/${name}`, bytes.subarray(at, (at += length))]);
      download("job.zip", zip(parts));
    } catch (error) {
      report(error);
    }
  });
  const takeImage = async (file) => {
    const bitmap = await createImageBitmap(file);
    const side = Math.min(512, Math.max(bitmap.width, bitmap.height));
    const scale = side / Math.max(bitmap.width, bitmap.height);
    const [width, height] = [Math.max(1, Math.round(bitmap.width * scale)), Math.max(1, Math.round(bitmap.height * scale))];
    const canvas = new OffscreenCanvas(width, height);
    const context = canvas.getContext("2d");
    context.drawImage(bitmap, 0, 0, width, height);
    await setImage({ width, height, rgba: new Uint8Array(context.getImageData(0, 0, width, height).data.buffer) });
    want({ draw: true, costs: true });
  };
  const take = (file) => takeImage(file).catch((error) => problem(`${file.name}: ${error.message}`));
  on("texture", "change", (event) => event.target.files[0] && take(event.target.files[0]));
  document.addEventListener("dragover", (event) => event.preventDefault());
  document.addEventListener("drop", async (event) => {
    event.preventDefault();
    const file = event.dataTransfer.files[0];
    if (!file) return;
    if (file.type.startsWith("image/")) take(file);
    else if (/\.(wgsl|qasm)$/.test(file.name)) load({ language: file.name.split(".").at(-1), source: await file.text(), sentence: file.name });
    else problem(`${file.name}: pictures, .wgsl and .qasm can be dropped here`);
  });
  addEventListener("hashchange", async () => {
    const next = await share.read(location.hash).catch(() => undefined);
    if (next && next.source !== source()) load({ ...next, sentence: "" });
  });
}

// A crate of shaders, as the repository's guide writes them.
function crateFiles() {
  const name = state.language === "qasm" ? `playground.${looked?.programs[0]?.stage === "fragment" ? "frag" : "user"}.qasm` : "playground.wgsl";
  return [
    ["shaders/Cargo.toml", '[package]\nname = "playground-shaders"\nversion = "0.1.0"\nedition = "2024"\n\n# Beside a checkout of the repository, called `v3d`.\n[dependencies]\nshader-interface = { path = "../v3d/qpu-shaders/interface" }\n\n[build-dependencies]\nshader-build = { path = "../v3d/tools/shader-build" }\n'],
    ["shaders/build.rs", '//! Compiles the shaders.\n\nfn main() {\n    shader_build::run("shaders");\n}\n'],
    ["shaders/src/lib.rs", '//! The shader of the playground, and the types of what feeds it.\n\ninclude!(concat!(env!("OUT_DIR"), "/shaders.rs"));\n'],
    [`shaders/shaders/${name}`, source()],
  ];
}

begin();
