// The memory of a compute shader: storage buffers before and after its run, and the workgroups.

import { bits, element, floatBits, get, word } from "./dom.js";

// Most words that are shown of a buffer; a longer one is cut.
const MOST_WORDS = 1024;
const ELEMENTS = 64;

let described;
let onChange = () => {};
let given = { count: undefined, buffers: {} };
let after = new Map();

export function setUp(change) {
  onChange = change;
}

const form = ({ number }) => ({ f32: "float", i32: "int", u32: "uint" })[number] ?? "hex";
const isFloat = ({ number }) => number === "f32";

const FILLS = {
  "0, 1, 2 …": (n) => n,
  zeros: () => 0,
  ones: () => 1,
  "1 to 99, mixed": (n) => ((n * 7919 + 13) % 99) + 1,
};

function filled(buffer, length, fill) {
  return Array.from({ length }, (_, n) => (isFloat(buffer) ? floatBits(FILLS[fill](n)) : FILLS[fill](n)));
}

// A length that the buffer can have, near to that which is wanted.
function length(buffer, wanted) {
  const { fixed_words: fixed, element_words: each } = buffer;
  if (each === 0) return fixed;
  const elements = Math.max(1, Math.min(Math.round((wanted - fixed) / each), Math.floor((MOST_WORDS - fixed) / each)));
  return fixed + each * elements;
}

// Takes what the compiler says of the shader; what a person has written to buffers of the same names stays.
export function describe(now) {
  const isNew = JSON.stringify(now) !== JSON.stringify(described);
  described = now;
  get("memory").hidden = !now;
  if (!now) return;
  if (isNew) after = new Map();
  given.count ??= [Math.ceil(ELEMENTS / now.size[0]), 1, 1];
  for (const buffer of now.buffers) {
    const words = given.buffers[buffer.name];
    const isResult = buffer.writable && now.buffers.length > 1;
    const wanted = length(buffer, words?.length ?? buffer.fixed_words + buffer.element_words * ELEMENTS);
    if (!words) given.buffers[buffer.name] = filled(buffer, wanted, isResult ? "zeros" : "0, 1, 2 …");
    else if (words.length !== wanted) given.buffers[buffer.name] = Array.from({ length: wanted }, (_, n) => words[n] ?? 0);
  }
  if (isNew) show();
}

// What a run is given: the workgroups, and the words of each buffer that the shader has.
export const toRun = () => ({ count: given.count, buffers: Object.fromEntries(described.buffers.map(({ name }) => [name, given.buffers[name]])) });

// Everything that a link keeps, and the way back.
export const kept = () => (described ? toRun() : undefined);
export function restore(from) {
  const isWhole = Array.isArray(from?.count) && typeof from?.buffers === "object";
  given = isWhole ? structuredClone(from) : { count: undefined, buffers: {} };
  described = undefined;
}

export function showResult(buffers, programs) {
  after = new Map(buffers);
  for (const buffer of described.buffers.filter(({ writable }) => writable)) {
    const results = get(`after-${buffer.name}`);
    if (!results) continue;
    const before = given.buffers[buffer.name];
    results.replaceChildren(...after.get(buffer.name).map((now, at) => element("output", { class: now === before[at] ? undefined : "changed", title: `${buffer.name}[${at}]: 0x${bits(now, "hex")}, before 0x${bits(before[at] ?? 0, "hex")}`, text: bits(now, form(buffer)) })));
  }
  const [x, y, z] = described.size;
  get("dispatched").textContent = `of ${[x, y, z].join(" × ")} invocations; ${programs} ${programs === 1 ? "program" : "programs"}, each on a QPU`;
}

function show() {
  const axis = (name, at) =>
    element("input", {
      type: "number", min: "1", max: "65535", value: String(given.count[at]), "aria-label": `Workgroups along ${name}`,
      change: ({ target }) => {
        given.count[at] = Math.min(Math.max(Math.round(Number(target.value)) || 1, 1), 65535);
        target.value = String(given.count[at]);
        onChange();
      },
    });
  get("memory").replaceChildren(
    element("p", { class: "dispatch" }, element("b", { text: "Workgroups" }), axis("x", 0), "×", axis("y", 1), "×", axis("z", 2), element("span", { id: "dispatched", role: "status" })),
    ...described.buffers.map(card),
  );
}

function card(buffer) {
  const { name, number, writable, element_words: each } = buffer;
  const cells = element("div", { class: "words" });
  const fill = () => cells.replaceChildren(...given.buffers[name].map((_, at) => cell(buffer, at)));
  const refill = (length, how) => {
    const before = given.buffers[name];
    given.buffers[name] = how ? filled(buffer, length, how) : Array.from({ length }, (_, n) => before[n] ?? 0);
    fill();
    onChange();
  };
  const size = element("input", {
    type: "number", min: String(length(buffer, 1)), max: String(MOST_WORDS), step: String(each || 1), value: String(given.buffers[name].length), disabled: each === 0, "aria-label": `Words of ${name}`,
    change: ({ target }) => {
      const wanted = length(buffer, Number(target.value) || 1);
      target.value = String(wanted);
      refill(wanted);
    },
  });
  const how = element("select", { "aria-label": `Contents of ${name}`, change: ({ target }) => (target.value && refill(given.buffers[name].length, target.value), (target.value = "")) },
    element("option", { value: "", text: "Fill with …" }), Object.keys(FILLS).map((text) => element("option", { text })));
  fill();
  const head = element("h3", {}, element("code", { text: name }), element("span", { text: `${number || "words"}, ${writable ? "read and written" : "read"}` }), size, how);
  if (!writable) return element("section", { class: "buffer" }, head, cells);
  return element("section", { class: "buffer" }, head,
    element("div", { class: "words results", id: `after-${name}`, "aria-label": `${name} after the run` }),
    element("details", {}, element("summary", { text: "before the run" }), cells));
}

function cell(buffer, at) {
  const words = given.buffers[buffer.name];
  return element("input", {
    value: bits(words[at], form(buffer)), "aria-label": `${buffer.name}[${at}]`, inputmode: "decimal", size: "1",
    change: ({ target }) => {
      const text = form(buffer) === "hex" && /^[0-9a-f]{8}$/i.test(target.value) ? `0x${target.value}` : target.value.trim();
      const typed = word(text, isFloat(buffer));
      target.classList.toggle("wrong", typed === undefined);
      if (typed === undefined) return;
      given.buffers[buffer.name][at] = typed;
      target.value = bits(typed, form(buffer));
      onChange();
    },
  });
}
