// A pixel's history, and the stepper through the programs that shaded it, or through a user program.

import { bits, element, get } from "./dom.js";
import { showPlace } from "./editor.js";
import { ask } from "./model.js";

let form = "float";
let program;
let openTab;

export function setUp(open) {
  openTab = open;
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

export async function stepProgram(uniforms) {
  show(await ask({ ask: "stepprogram", uniforms }));
}

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

export function showNothing(hasUser) {
  const parent = get("tab-step");
  parent.replaceChildren(
    element("p", { class: "empty", text: hasUser ? "This is a user program." : "Click a pixel of the picture; what shaded it can be stepped through, forward and back." }),
  );
  if (hasUser) parent.append(starter());
}

function starter() {
  const input = element("input", { value: "1.0, 0x9000", "aria-label": "Uniforms", id: "uniforms" });
  const begin = () => {
    const words = input.value.split(",").map((text) => text.trim()).filter(Boolean).map(word);
    if (words.includes(undefined)) {
      input.setCustomValidity("integers, 0x…, or floats with a decimal point, with commas between");
      input.reportValidity();
      return;
    }
    input.setCustomValidity("");
    stepProgram(words).catch((error) => get("tab-step").append(element("p", { class: "error", text: error.message })));
  };
  return element("p", { class: "starter" }, element("label", {}, "Uniforms ", input), element("button", { text: "Start", click: begin }));
}

function word(text) {
  if (/^0x[0-9a-f]{1,8}$/i.test(text)) return Number.parseInt(text, 16);
  if (/^-?\d*\.\d*$/.test(text) && text.length > 1) {
    const view = new DataView(new ArrayBuffer(4));
    view.setFloat32(0, Number(text));
    return view.getUint32(0);
  }
  return /^-?\d+$/.test(text) ? Number(text) >>> 0 : undefined;
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
  const forms = ["float", "int", "hex"].map((name) => element("button", { "aria-pressed": String(name === form), text: name, click: () => ((form = name), show(view)) }));
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
        view.memory.length ? [element("h3", { text: "Memory" }), element("pre", { text: view.memory.map(([at, words]) => `${bits(at, "hex")}  ${words.map((word) => bits(word, form === "float" ? "hex" : form)).join(" ")}`).join("\n") })] : undefined,
        set,
      ),
    ),
  );
  const next = parent.querySelector("tr.next");
  const list = parent.querySelector(".listing");
  if (next && list) list.scrollTop = next.offsetTop - list.clientHeight / 2;
}
