// The programs: instructions beside their lines, and what they cost, beside what they cost before the last edit.

import { element, get, grouped } from "./dom.js";
import { select, showPlace } from "./editor.js";

let programs = [];
let before = [];
let stage = "fragment";
let costs;

export function showPrograms(now, earlier) {
  costs = undefined;
  programs = now;
  before = earlier;
  if (!programs.some((program) => program.stage === stage)) stage = programs.at(-1)?.stage;
  draw();
}

// The stalls of an instruction: cycles of waiting, in the mean, each time it is executed.
function waits(number) {
  const program = costs?.programs.find(({ kind }) => kind.includes(stage));
  const cost = program?.code.find((instruction) => instruction.number === number);
  if (!cost) return element("td", { class: "cost" });
  const { executed, stalls } = cost;
  const mean = stalls.map(([name, cycles]) => [name, cycles / Math.max(executed, 1)]).filter(([, cycles]) => cycles >= 0.05);
  const sum = mean.reduce((total, [, cycles]) => total + cycles, 0);
  const why = mean.toSorted((a, b) => b[1] - a[1]).map(([name, cycles]) => `${cycles.toFixed(1)} for ${name}`);
  return element(
    "td",
    { class: "cost", title: `${grouped(executed)} times, 4 cycles each${why.length ? `, and waits in the mean ${why.join(", ")}` : ""}` },
    sum >= 0.05 ? element("i", { style: `width: ${Math.min(4, sum / 10)}rem` }) : undefined,
    sum >= 0.05 ? `+${sum.toFixed(1)} ${mean.toSorted((a, b) => b[1] - a[1])[0][0]}` : "",
  );
}

// How many registers are live before an instruction, as a bar; which ones, when one points at it.
function pressure(live) {
  if (!live) return element("td", { class: "live" });
  const registers = live.filter((name) => name !== "flags");
  const title = live.length ? `live before it: ${live.join(" ")}` : "no register is live before it";
  return element("td", { class: "live", title, "data-live": live.join(" ") }, element("i", { style: `width: ${registers.length / 16}rem` }), String(registers.length));
}

// What a stretch between thread switches takes each time: instructions by its text, cycles by what was executed.
function stretchCell(stretches, number) {
  const at = stretches.findIndex(({ first, last }) => first <= number && number <= last);
  const { first, last, switch: by, branches } = stretches[at];
  const title = by === null ? `stretch ${at + 1}, from instruction ${first} to the program's end` : `stretch ${at + 1}, from instruction ${first} to ${last}: the signal in ${by} gives the QPU to the other thread after two more`;
  const parts = [];
  if (number === first) {
    parts.push(element("b", { text: `${last - first + 1} instr.` }));
    if (branches) parts.push(element("span", { title: "there are branches in it: it may execute more or fewer than stand here", text: " ↺" }));
  }
  if (number === Math.min(first + 1, last)) {
    const program = costs?.programs.find(({ kind }) => kind.includes(stage));
    const own = program?.code.filter((instruction) => first <= instruction.number && instruction.number <= last) ?? [];
    const cycles = own.reduce((sum, { executed, stalls }) => sum + 4 * executed + stalls.reduce((all, [, waited]) => all + waited, 0), 0);
    const mean = program?.starts ? cycles / program.starts : undefined;
    if (mean !== undefined) parts.push(`${mean.toFixed(0)} cycles `);
  }
  if (number === by) parts.push(element("span", { class: "switch", text: "⇄ switch" }));
  return element("td", { class: `thread ${at % 2 ? "odd" : "even"}`, title, "data-stretch": String(at) }, ...parts);
}

function difference(now, then) {
  if (then === undefined || then === now) return undefined;
  const more = now - then;
  return element("span", { class: more > 0 ? "worse" : "better", text: `${more > 0 ? "+" : "−"}${grouped(Math.abs(more))}` });
}

function draw() {
  const parent = get("tab-code");
  if (programs.length === 0) {
    parent.replaceChildren(element("p", { class: "empty", text: "As soon as the source compiles, its programs stand here." }));
    return;
  }
  const chooser = element(
    "div",
    { class: "chips", role: "group", "aria-label": "Program" },
    programs.map(({ stage: name, code }) => {
      const then = before.find((program) => program.stage === name)?.code.length;
      return element(
        "button",
        { "aria-pressed": String(name === stage), click: () => ((stage = name), draw()) },
        name,
        element("b", { text: String(code.length) }),
        difference(code.length, then),
      );
    }),
  );
  const { code, threads, at_least: atLeast, uniforms, stretches } = programs.find((program) => program.stage === stage);
  const isKnown = code.some(({ live }) => live);
  const facts = [
    `${code.length} instructions, ${code.length * 4} cycles without stalls for 16 pixels or vertices`,
    threads === 2 ? `two threads share a QPU, which this one gives away ${["never", "once", "twice"][Math.max(stretches.length - 1, 0)] ?? `${stretches.length - 1} times`}` : "one thread",
    isKnown ? undefined : "which registers are live is not known, as it branches to addresses in registers",
    atLeast ? `at least ${atLeast} for these operations` : undefined,
  ];
  const rows = code.map(({ text, word, unit, place, line, live }, number) =>
    element(
      "tr",
      {
        class: `unit-${unit}`,
        "data-line": line,
        tabindex: "0",
        mouseenter: () => showPlace(place),
        mouseleave: () => showPlace(undefined),
        focus: () => showPlace(place),
        click: () => place && select(place[0], place[1]),
        keydown: (event) => event.key === "Enter" && place && select(place[0], place[1]),
      },
      element("td", { class: "number", text: String(number) }),
      element("td", { class: "text", text, title: `0x${word}` }),
      waits(number),
      isKnown ? pressure(live) : undefined,
      stretches.length ? stretchCell(stretches, number) : undefined,
      element("td", { class: "line", text: line ? `line ${line}` : "—" }),
    ),
  );
  parent.replaceChildren(
    chooser,
    element("p", { class: "facts", text: facts.filter(Boolean).join("; ") }),
    element(
      "table",
      { class: "code" },
      element("thead", {}, element("tr", {}, ["", "instruction", "waits", ...(isKnown ? ["live"] : []), ...(stretches.length ? ["thread"] : []), "of"].map((text) => element("th", { text })))),
      element("tbody", {}, rows),
    ),
    uniforms.length
      ? element("details", {}, element("summary", { text: `${uniforms.length} uniforms, in the order in which it reads them` }), element("ol", { start: "0" }, uniforms.map((text) => element("li", { text }))))
      : undefined,
  );
}

// Marks the instructions that were made of a line.
export function markLine(line) {
  for (const row of document.querySelectorAll("#tab-code tr")) row.classList.toggle("of-line", row.dataset.line === String(line));
}

export function showCosts(now, earlier) {
  costs = now;
  if (programs.length) draw();
  const parent = get("tab-cost");
  if (!costs) {
    parent.replaceChildren(element("p", { class: "empty", text: "What a frame costs stands here as soon as it is drawn." }));
    return;
  }
  const [at250, at300] = costs.milliseconds;
  const most = Math.max(1, ...costs.units.map(([, cycles]) => cycles), costs.cycles);
  const bound = costs.units[0];
  const what = costs.tiles.length ? "frame" : "run";
  const time = (milliseconds) => (milliseconds < 0.1 ? `${(1000 * milliseconds).toFixed(1)} µs` : `${milliseconds.toFixed(2)} ms`);
  parent.replaceChildren(
    element(
      "div",
      { class: "big" },
      element("div", {}, element("b", { text: time(at250) }), difference(costs.cycles, earlier?.cycles), element("span", { text: `a ${what} at 250 MHz, ${time(at300)} at 300 MHz` })),
      element("div", {}, element("b", { text: `${grouped(Math.floor(1000 / Math.max(at250, 0.001)))} / s` }), element("span", { text: `the busiest unit is ${bound[0]}, for ${Math.round((100 * bound[1]) / Math.max(costs.cycles, 1))} % of the time` })),
    ),
    element("h3", { text: "Units" }),
    element(
      "table",
      { class: "bars" },
      element(
        "tbody",
        {},
        [["all", costs.cycles], ...costs.units].map(([name, cycles]) =>
          element("tr", {}, element("th", { text: name }), element("td", {}, element("meter", { value: String(cycles), max: String(most), "aria-label": `${name}: ${cycles} cycles` })), element("td", { class: "amount", text: grouped(cycles) })),
        ),
      ),
    ),
    element("h3", { text: "Programs" }),
    element(
      "table",
      { class: "programs" },
      element("thead", {}, element("tr", {}, ["program", "runs", "instructions", "cycles", "waits for"].map((text) => element("th", { text })))),
      element(
        "tbody",
        {},
        costs.programs.map((program) => {
          const then = earlier?.programs.find(({ kind }) => kind === program.kind);
          const waits = program.stalls.toSorted((a, b) => b[1] - a[1]).map(([name, cycles]) => `${name} ${Math.round((100 * cycles) / Math.max(program.cycles, 1))} %`);
          return element(
            "tr",
            {},
            element("td", { text: program.kind }),
            element("td", { class: "amount", text: grouped(program.starts) }),
            element("td", { class: "amount" }, grouped(program.instructions), difference(program.instructions, then?.instructions)),
            element("td", { class: "amount" }, grouped(program.cycles), difference(program.cycles, then?.cycles)),
            element("td", { text: waits.join(", ") || "nothing" }),
          );
        }),
      ),
    ),
    element("p", { class: "note", text: "Estimates of the timing model, which is compared with measurements of boards; a run is 16 pixels or vertices." }),
  );
}
