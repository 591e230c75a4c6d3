// Puzzles: when they are solved.

import { EXAMPLES } from "./examples.js";
import { ask } from "./model.js";

// What the puzzle's own source has drawn or computed first, which is to stay.
let first;

export function begin() {
  first = undefined;
}

const length = (programs, stage) => (programs.find((program) => program.stage === stage) ?? programs.at(-1)).code.length;
const close = (a, b) => a && b && a.length === b.length && a.every((byte, at) => Math.abs(byte - b[at]) <= 1);

// Each kind says what is solved, as a sentence, or nothing.
const KINDS = {
  // The same picture in fewer instructions of the fragment shader. A texel of another row makes more than a rounding's difference, in a few places.
  shorter({ most, few = 0 }, { programs, pixels }) {
    if (!pixels) return;
    first ??= pixels.slice();
    const count = length(programs, "fragment");
    const isSame = few ? nearly(first, pixels, few) : close(first, pixels);
    if (isSame && count <= most) return `${count} instructions.`;
  },
  // The same picture in fewer cycles of the whole frame.
  cycles({ most }, { pixels, costs }) {
    if (!pixels) return;
    first ??= pixels.slice();
    if (costs && close(first, pixels) && costs.cycles <= most) return `${costs.cycles.toLocaleString("en")} cycles.`;
  },
  // No complaint of the checker, and nothing left out.
  clean({ least }, { programs, diagnostics }) {
    const count = length(programs);
    if (diagnostics.length === 0 && count >= least) return `${count} instructions, and nothing to complain about.`;
  },
  // A picture that is described; edges may be softened.
  picture({ pixel, few }, { pixels, width, height }) {
    if (!pixels) return;
    const wanted = new Uint8ClampedArray(4 * width * height);
    for (let at = 0; at < width * height; at += 1) wanted.set(pixel(at % width, Math.floor(at / width), width, height), 4 * at);
    if (nearly(wanted, pixels, few)) return "That is the picture.";
  },
  // The words of a buffer after the run.
  buffer({ name, word }, { before, after }) {
    const found = after && new Map(after).get(name);
    if (found?.length >= 64 && found.every((value, at) => value === word(at, before))) return "All numbers are right.";
  },
  // What a user program leaves in memory, in fewer steps.
  async steps({ uniforms, address, words, most }, { diagnostics, user }) {
    if (!user || diagnostics.some(({ error }) => error)) return;
    await ask({ ask: "stepprogram", uniforms });
    const { position, memory, end } = await ask({ ask: "step", command: `goto ${most}` });
    const line = memory.find((line) => line.address === address)?.words ?? [];
    if (end === "the program has ended" && words.every((word, at) => word === line[at])) return `${position} instructions executed.`;
  },
};

// Whether at most so many of a thousand pixels differ.
function nearly(a, b, few) {
  if (a.length !== b.length) return false;
  let different = 0;
  for (let at = 0; at < a.length; at += 4) different += [0, 1, 2].some((part) => Math.abs(a[at + part] - b[at + part]) > 8);
  return different <= (few * a.length) / 4000;
}

// What the sentence above the source is then: that of the example, or that its puzzle is solved.
export async function judge(name, found) {
  const { puzzle, sentence } = EXAMPLES.find((example) => example.name === name) ?? {};
  if (!puzzle) return undefined;
  const solved = await KINDS[puzzle.kind](puzzle, found);
  return { solved: Boolean(solved), text: solved ? `Solved: ${solved}` : sentence };
}
