// A pixel's history, and the stepper through the programs that shaded it, or through a user program.

import { bits, element, get, word } from "./dom.js";
import { showPlace } from "./editor.js";
import { ask } from "./model.js";

let form = "auto";
let program;
let openTab;
// Types of a compute shader's buffers.
let numbers = {};
// Begins to step through a program of a compute shader.
let ofCompute;

export function setUp(open, stepCompute) {
  openTab = open;
  ofCompute = stepCompute;
}

export function setProgram(now) {
  program = now;
}

export async function showPixel(settings, x, y) {
  const parent = get("tab-pixel");
  parent.replaceChildren(element("p", { class: "empty", text: `Pixel ${x}, ${y} …` }));
  let answer;
  try {
    answer = await ask({ ask: "pixel", settings, x, y });
  } catch (error) {
    parent.replaceChildren(element("p", { class: "error", text: error.message }));
    return;
  }
  parent.replaceChildren(
    element("p", { class: "facts", text: `Pixel ${x}, ${y}: what happened to it, in order` }),
    element(
      "ol",
      { class: "history" },
      answer.events.map(({ text, run }) =>
        element("li", {}, text, run === null ? undefined : element("button", { text: "Step through it", click: () => stepRun(run) })),
      ),
    ),
  );
  if (answer.events.length === 0) parent.append(element("p", { text: "Nothing: no tile has it." }));
}

async function stepRun(run) {
  show(await ask({ ask: "steprun", run }));
  openTab("step");
}

export const words = (text) => text.split(",").map((part) => part.trim()).filter(Boolean).map((part) => word(part));

async function command(text) {
  try {
    show(await ask({ ask: "step", command: text }));
  } catch (error) {
    get("tab-step").append(element("p", { class: "error", text: error.message }));
  }
}

const COMMANDS = [
  ["step", "s", "Step", "the next instruction"],
  ["back", "b", "Back", "the instruction before"],
  ["run", "r", "Run", "to a breakpoint, a change of what is watched, or the end"],
  ["reverse", "R", "Run back", "the same backwards"],
  ["signal", "g", "Signal", "to the next instruction with a signal"],
  ["thread", "t", "Switch", "to the next thread switch"],
  ["tmu", "l", "TMU", "to where the next result of a TMU is in r4"],
  ["goto 0", "0", "Start", "the beginning"],
];

export function keys(event) {
  const found = COMMANDS.find(([, key]) => key === event.key);
  if (!found || event.ctrlKey || event.metaKey || event.altKey || ["INPUT", "SELECT", "TEXTAREA"].includes(event.target.tagName)) return;
  event.preventDefault();
  command(found[0]);
}

export function showNothing({ user, compute }, uniforms = "1.0, 0x9000") {
  const parent = get("tab-step");
  numbers = Object.fromEntries(compute?.buffers.map(({ name, number }) => [name, number]) ?? []);
  const text = user
    ? "This is a user program: it begins with these uniforms, and with memory that is 0 but for itself and them. Words of memory can be changed on the way."
    : compute
      ? "A compute shader runs as several programs. One of them can be stepped through; where it waits for the others, they run first."
      : "Click a pixel of the picture; what shaded it can be stepped through, forward and back.";
  parent.replaceChildren(element("p", { class: "empty", text }));
  if (user) parent.append(starter(uniforms));
  else if (compute) parent.append(computeStarter());
}

function begin(start) {
  start().then(show).catch((error) => get("tab-step").append(element("p", { class: "error", text: error.message })));
}

function computeStarter() {
  const input = element("input", { type: "number", min: "0", max: "11", value: "0", "aria-label": "Program", id: "program-number" });
  const start = () => begin(() => ofCompute(Math.max(0, Math.round(Number(input.value)) || 0)));
  return element("p", { class: "starter" }, element("label", {}, "Program ", input), element("button", { text: "Start", click: start }));
}

function starter(uniforms) {
  const input = element("input", { value: uniforms, "aria-label": "Uniforms", id: "uniforms" });
  const start = () => {
    const given = words(input.value);
    if (given.includes(undefined)) {
      input.setCustomValidity("integers, 0x…, or floats with a decimal point, with commas between");
      input.reportValidity();
      return;
    }
    input.setCustomValidity("");
    begin(() => ask({ ask: "stepprogram", uniforms: given }));
  };
  return element("p", { class: "starter" }, element("label", {}, "Uniforms ", input), element("button", { text: "Start", click: start }));
}

// Lines of memory; a word that is pressed can be changed.
function memory(lines) {
  const shown = (name, value) => {
    const number = numbers[name.split("[")[0]];
    if (!number) return bits(value, form === "auto" ? "hex" : form);
    if (form !== "auto") return bits(value, form);
    return bits(value, { f32: "float", i32: "int", u32: "uint" }[number]);
  };
  const change = (address) => {
    const input = document.querySelector(".set input");
    input.value = `set 0x${address.toString(16)} `;
    input.focus();
  };
  const cell = ({ address, name, changed }) => (value, at) =>
    element("td", { class: (changed >> at) & 1 ? "changed" : undefined }, element("button", { text: shown(name, value), title: `0x${bits(address + 4 * at, "hex")}: 0x${bits(value, "hex")}, ${bits(value, "int")}, ${bits(value, "float")}; press to change it`, click: () => change(address + 4 * at) }));
  return element("table", { class: "vectors memory" }, element("tbody", {}, lines.map((line) => element("tr", {}, element("th", { text: line.name || bits(line.address, "hex"), title: `0x${bits(line.address, "hex")}` }), line.words.map(cell(line))))));
}

function vectors(list) {
  return element(
    "table",
    { class: "vectors" },
    element("thead", {}, element("tr", {}, element("th", { text: "" }), Array.from({ length: 16 }, (_, n) => element("th", { text: String(n) })))),
    element(
      "tbody",
      {},
      list.map(({ name, values, changed }) => {
        const all = values.every((value) => value === values[0]);
        const head = element("th", {}, element("button", { text: name, title: `watch ${name}: a run stops when it changes`, click: () => command(`watch ${name}`), disabled: /^(\d|t)/.test(name) }));
        const cells = all
          ? [element("td", { colspan: "16", class: "all", text: `${bits(values[0], form)} in all` })]
          : values.map((value, lane) => element("td", { text: bits(value, form), title: `${name}[${lane}]: 0x${bits(value, "hex")}, ${bits(value, "int")}, ${bits(value, "float")}` }));
        return element("tr", { class: changed ? "changed" : undefined }, head, cells);
      }),
    ),
  );
}

function flagRow(name, mask) {
  return element("span", { class: "flag" }, element("b", { text: name }), Array.from({ length: 16 }, (_, lane) => element("i", { class: (mask >> lane) & 1 ? "on" : undefined, title: `${name} of element ${lane}` })));
}

function show(view) {
  const parent = get("tab-step");
  const code = program?.code ?? [];
  const listed = view.next === null ? undefined : code[view.next];
  showPlace(listed?.place);
  const rows = code.map(({ text, unit, line }, number) =>
    element(
      "tr",
      { class: `unit-${unit}${number === view.next ? " next" : ""}` },
      element("td", { class: "number" }, element("button", { class: view.breakpoints.includes(number) ? "stop on" : "stop", title: "breakpoint", "aria-label": `breakpoint at instruction ${number}`, click: () => command(`break 0x${(8 * number).toString(16)}`) }, String(number))),
      element("td", { class: "text", text }),
      element("td", { class: "line", text: line ? `line ${line}` : "" }),
    ),
  );
  const forms = ["auto", "float", "int", "hex"].map((name) => element("button", { "aria-pressed": String(name === form), text: name, click: () => ((form = name), show(view)) }));
  const notes = [
    view.end ?? undefined,
    view.sfu ? `r4: the result of the special function unit can be read after ${view.sfu} more` : undefined,
    ...view.faults.map((fault) => `fault: ${fault}`),
    view.watches.length ? `watched: ${view.watches.join(", ")}` : undefined,
  ].filter(Boolean);
  const set = element("form", { class: "set", submit: (event) => { event.preventDefault(); command(new FormData(event.target).get("command")); } },
    element("input", { name: "command", placeholder: "set 0x9000 1.5 · watch ra3[5] · goto 10", "aria-label": "A command of the stepper" }), element("button", { text: "Do" }));
  parent.replaceChildren(
    element("div", { class: "chips", role: "toolbar", "aria-label": "Stepper" }, COMMANDS.map(([text, key, label, title]) => element("button", { title: `${title} (${key})`, "data-command": text, click: () => command(text) }, label, element("kbd", { text: key }))), element("span", { class: "spring" }), forms),
    element("p", { class: "facts", "aria-live": "polite", id: "position" }, element("b", { text: `${view.position} executed` }), ` next: ${view.text || "nothing"}`),
    ...notes.map((text) => element("p", { class: text.startsWith("fault") ? "error" : "note", text })),
    element("div", { class: "split" },
      element("div", { class: "listing" }, element("table", { class: "code" }, element("tbody", {}, rows))),
      element("div", { class: "state" },
        element("div", { class: "flags" }, flagRow("Z", view.flags[0]), flagRow("N", view.flags[1]), flagRow("C", view.flags[2]), element("span", { text: `next uniform at 0x${bits(view.uniforms, "hex")}` })),
        vectors(view.registers),
        view.coordinates.length ? [element("h3", { text: "Lookup being written" }), vectors(view.coordinates)] : undefined,
        view.results.flatMap((results, unit) => (results.length ? [element("h3", { text: `TMU ${unit}: results to load` }), vectors(results)] : [])),
        view.vpm.length ? [element("h3", { text: "VPM" }), vectors(view.vpm)] : undefined,
        view.memory.length ? [element("h3", { text: "Memory" }), memory(view.memory)] : undefined,
        set,
      ),
    ),
  );
  const next = parent.querySelector("tr.next");
  const list = parent.querySelector(".listing");
  if (next && list) list.scrollTop = next.offsetTop - list.clientHeight / 2;
}
