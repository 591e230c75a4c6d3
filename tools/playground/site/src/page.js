// The page: what is typed is compiled, drawn, and shown with what it costs.

import { markLine, showCosts, showPrograms } from "./code.js";
import { element, get } from "./dom.js";
import { createEditor, select, setLanguage, setSource, showDiagnostics, source } from "./editor.js";
import { EXAMPLES } from "./examples.js";
import * as files from "./files.js";
import { showLists } from "./lists.js";
import * as memory from "./memory.js";
import { ask, give, stop, workerCount } from "./model.js";
import * as pixel from "./pixel.js";
import * as puzzles from "./puzzles.js";
import { crateFiles, download, zip } from "./download.js";
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
// The model that was dropped onto the page: its name and bytes. And the name of the one that the workers have.
let dropped;
let modelInUse;

const settings = () => {
  const [width, height] = state.size.split("x").map(Number);
  const shape = state.shape === "lighthouse" ? "model" : state.shape;
  return { width, height, time: state.time, mouse: state.mouse, shape, values: state.values };
};

// The workers know one model at a time.
async function prepareModel() {
  if (state.shape === "lighthouse" && modelInUse !== "lighthouse") {
    const response = await fetch(new URL("lighthouse.glb", document.baseURI));
    if (!response.ok) throw new Error(`the lighthouse could not be loaded: ${response.status} ${response.statusText}`);
    await give({ model: { name: "lighthouse.glb", bytes: new Uint8Array(await response.arrayBuffer()) } });
    modelInUse = "lighthouse";
  } else if (state.shape === "model" && dropped && modelInUse !== dropped) {
    await give({ model: dropped });
    modelInUse = dropped;
  }
}

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
      else if (looked?.compute) await compute();
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
    pixel.showNothing(answer, EXAMPLES.find(({ name }) => name === state.example)?.uniforms);
    showSettings(answer.settings);
    const isCompute = Boolean(answer.compute && !answer.drawable);
    memory.describe(isCompute ? answer.compute : undefined);
    document.body.classList.toggle("computes", isCompute);
  } else {
    looked = { ...looked, drawable: false };
  }
  get("view-picture").classList.toggle("stale", !answer.drawable);
  if (!isWrong && !answer.drawable && !answer.compute) await judge({});
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
  await prepareModel();
  // With several workers, both are made at the same time.
  const drawn = ask({ ask: "draw", settings: settings(), costs: false }, true);
  const costed = withCosts && !playing ? ask({ ask: "draw", settings: settings(), costs: true }) : undefined;
  costed?.catch(() => {});
  const { width, height, pixels, faults } = paint(await drawn);
  if (faults.length) problem(`the model reports: ${faults[0]}`);
  if (costed) {
    ({ costs } = await costed);
    showCosts(costs, earlier.costs);
    showLists(costs.lists);
    showTiles();
  }
  await judge({ pixels, width, height, costs: costed ? costs : undefined });
}

// Shows a picture; returns it with opaque pixels.
function paint(answer) {
  const { width, height, bytes, taken } = answer;
  const canvas = get("picture");
  if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
  const pixels = new Uint8ClampedArray(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let alpha = 3; alpha < pixels.length; alpha += 4) pixels[alpha] = 255;
  canvas.getContext("2d").putImageData(new ImageData(pixels, width, height), 0, 0);
  canvas.dataset.drawn = String(Number(canvas.dataset.drawn ?? 0) + 1);
  document.body.dataset.took = taken.toFixed(1);
  if (!playing) get("rate").textContent = `${taken.toFixed(0)} ms`;
  return { ...answer, pixels };
}

async function compute() {
  const given = memory.toRun();
  const answer = await ask({ ask: "compute", settings: settings(), given, costs: true });
  ({ costs } = answer);
  memory.showResult(answer.buffers, answer.programs);
  get("rate").textContent = `${answer.taken.toFixed(0)} ms`;
  showCosts(costs, earlier.costs);
  showLists("", true);
  if (answer.faults.length) problem(`the model reports: ${answer.faults[0]}`);
  await judge({ before: given.buffers, after: answer.buffers });
}

// ---- Puzzles.

async function judge(found) {
  const { example } = state;
  const { programs, diagnostics, user } = looked;
  const judged = await puzzles.judge(example, { programs, diagnostics, user, ...found });
  if (!judged || state.example !== example) return;
  get("sentence").classList.toggle("solved", judged.solved);
  get("sentence").textContent = judged.text;
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

// Frames that are being drawn, the number of the last one that was begun and of the last one that was shown, and when the last ones were shown.
let lastTick;
let frames = { open: 0, begun: 0, shown: 0, times: [] };

function play() {
  lastTick = undefined;
  frames = { open: 0, begun: 0, shown: 0, times: [] };
  requestAnimationFrame(tick);
}

// Each worker draws a frame; they are shown in order, and one that comes too late is left out.
function tick(now) {
  if (!playing) return;
  requestAnimationFrame(tick);
  if (working || !looked?.drawable || frames.open >= workerCount) return;
  state.time = (state.time + Math.min(now - (lastTick ?? now), 1000) / 1000) % 1000;
  lastTick = now;
  showTime();
  frame(frames);
}

async function frame(own) {
  own.open += 1;
  own.begun += 1;
  const number = own.begun;
  try {
    const answer = await ask({ ask: "draw", settings: settings(), costs: false }, true);
    if (own !== frames || !playing || number < own.shown) return;
    own.shown = number;
    paint(answer);
    own.times = [...own.times.slice(-20), performance.now()];
    const [first] = own.times;
    if (own.times.length > 2) get("rate").textContent = `${((1000 * (own.times.length - 1)) / (own.times.at(-1) - first)).toFixed(1)} / s`;
  } catch (error) {
    if (error.message !== "stopped") report(error);
  } finally {
    own.open -= 1;
  }
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
      const values = (state.values[name] ??= { to_sun: [-0.75, 0.35, 0.561249], air: [0.4, 0.54, 0.9] }[name]?.slice(0, numbers) ?? Array(numbers).fill(0.5));
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
  const { given, sentence, ...settings } = next;
  Object.assign(state, { time: 0, shape: "quad", values: {}, ...settings });
  if (state.shape === "model" && !dropped) {
    notice = `This link was made with a model of its own, ${next.model ?? "which it does not hold"}: drop it onto the page.`;
    state.shape = "lighthouse";
  }
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
  puzzles.begin();
  memory.restore(next.given);
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
  pixel.setUp(openTab, (number) => ask({ ask: "stepcompute", settings: settings(), given: memory.toRun(), number }));
  memory.setUp(() => want({ draw: true }));
  document.body.dataset.workers = String(workerCount);
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
  return { language, time, shape, size, values, source: source(), given: memory.kept(), model: shape === "model" ? dropped?.name : undefined };
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
    showPlaying();
    if (playing) play();
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
    state.mouse = [x + 0.5, y + 0.5];
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
  on("save-crate", "click", () => download("shaders.zip", zip(crateFiles(state.language, looked?.programs[0], source()))));
  on("save-job", "click", async () => {
    try {
      await prepareModel();
      const { files: list, bytes } = await ask({ ask: "job", settings: settings(), given: memory.kept() }, true);
      let at = 0;
      const parts = list.map(([name, length]) => [`job/${name}`, bytes.subarray(at, (at += length))]);
      download("job.zip", zip(parts));
    } catch (error) {
      report(error);
    }
  });
  const take = async (list) => {
    try {
      const taken = await files.take([...list]);
      notice = undefined;
      if (taken.model) takeModel(taken.model);
      else if (taken.source !== undefined) load({ language: taken.language, source: taken.source, sentence: taken.name });
      else want({ draw: true, costs: true });
    } catch (error) {
      problem(error.message);
    }
  };
  on("open", "change", async ({ target }) => {
    await take(target.files);
    target.value = "";
  });
  document.addEventListener("dragover", (event) => event.preventDefault());
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    if (event.dataTransfer.files.length) take(event.dataTransfer.files);
  });
  addEventListener("hashchange", async () => {
    const next = await share.read(location.hash).catch(() => undefined);
    if (next && next.source !== source()) load({ ...next, sentence: "" });
  });
}

// A model that was dropped is shown at once: by the shader that is there if it draws bodies, else by that of the lighthouse.
function takeModel(model) {
  dropped = model;
  modelInUse = model;
  const option = get("shape").querySelector('[value="model"]') ?? get("shape").appendChild(element("option", { value: "model" }));
  option.textContent = model.name;
  if (looked?.drawable && looked.solid) {
    state.shape = "model";
    get("shape").value = "model";
    want({ draw: true, costs: true });
  } else {
    const { language, source, values } = EXAMPLES.find(({ name }) => name === "Lighthouse");
    get("example").selectedIndex = -1;
    state.example = undefined;
    load({ language, source, shape: "model", values: structuredClone(values), sentence: model.name });
  }
}

begin();
