// Elements, and numbers as texts.

export const get = (id) => document.getElementById(id);

// An element with attributes and children; functions become listeners, and `class`, `text` and data attributes are what they are called.
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    if (typeof value === "function") made.addEventListener(key, value);
    else if (key === "text") made.textContent = value;
    else made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.flat().filter((child) => child !== undefined && child !== null));
  return made;
}

export const grouped = (number) => Math.round(number).toLocaleString("en");

const view = new DataView(new ArrayBuffer(4));

export function floatBits(number) {
  view.setFloat32(0, number);
  return view.getUint32(0);
}

// Numbers of a register's bits: as they are, as an integer with or without a sign, as a float; or as whichever of the last two is likelier.
export function bits(word, form) {
  if (form === "auto") {
    const exponent = (word >>> 23) & 255;
    return bits(word, word === 0 || (exponent > 127 - 40 && exponent < 127 + 60) ? "float" : "int");
  }
  if (form === "hex") return word.toString(16).padStart(8, "0");
  view.setUint32(0, word);
  if (form === "int") return String(view.getInt32(0));
  if (form === "uint") return String(word);
  const float = view.getFloat32(0);
  if (float === 0) return "0";
  const size = Math.abs(float);
  return size >= 1e6 || size < 1e-4 ? float.toExponential(2) : String(Number(float.toPrecision(5)));
}

// The bits of a number that a person has typed; undefined if it is none. Integers are floats where only floats are expected.
export function word(text, isFloat = false) {
  if (/^0x[0-9a-f]{1,8}$/i.test(text)) return Number.parseInt(text, 16);
  if (/^-?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text) && (isFloat || /[.e]/i.test(text))) return floatBits(Number(text));
  return /^-?\d+$/.test(text) && Math.abs(Number(text)) < 2 ** 32 ? Number(text) >>> 0 : undefined;
}
