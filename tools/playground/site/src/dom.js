// Small helpers for elements.

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

// Numbers of a register's bits: as they are, as an integer, as a float.
export function bits(word, form) {
  if (form === "hex") return word.toString(16).padStart(8, "0");
  const view = new DataView(new ArrayBuffer(4));
  view.setUint32(0, word);
  if (form === "int") return String(view.getInt32(0));
  const float = view.getFloat32(0);
  if (float === 0) return "0";
  const size = Math.abs(float);
  return size >= 1e6 || size < 1e-4 ? float.toExponential(2) : String(Number(float.toPrecision(5)));
}
