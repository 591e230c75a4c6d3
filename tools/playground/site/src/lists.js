// The control lists of a frame, as `v3d dump` shows them: the bytes of a record beside its fields, each of which shows where the other is.

import { element, get } from "./dom.js";

const RECORD = /^(0x[0-9a-f]+ +\d+ .+?  \[)([0-9a-f]{2}(?: [0-9a-f]{2})*)(\])$/;
const FIELD = /^ +(\d+)(?::(\d+))? (\S+) +(.*)$/;

export function showLists(lists, isCompute) {
  const parent = get("tab-lists");
  if (isCompute) {
    parent.replaceChildren(element("p", { class: "empty", text: "A compute shader has no control lists: for each of its programs the driver writes three registers, the number of its uniforms, their address, and the program's." }));
    return;
  }
  if (!lists) {
    parent.replaceChildren(element("p", { class: "empty", text: "The control lists of the frame stand here as soon as it is drawn." }));
    return;
  }
  const blocks = lists.split(/\n(?=====)|\n(?=== )/).filter((text) => text.trim());
  parent.replaceChildren(
    element("p", { class: "facts", text: "What the driver has written for this frame, and what the binner made of it: every record with its address, its bytes and its fields. Point at a byte or at a field." }),
    ...blocks.map((text, number) => {
      const end = text.indexOf("\n");
      const title = text.slice(0, end < 0 ? undefined : end).replaceAll("=", "").trim();
      const body = end < 0 ? "" : text.slice(end + 1);
      // Hundreds of tile lists are read by nobody at once: a block is made when it is opened.
      const pre = element("pre", { mouseover: point, mouseleave: point });
      const fill = () => pre.childNodes.length || pre.append(...records(body));
      const details = element("details", { toggle: () => details.open && fill() }, element("summary", { text: title || "the job" }), pre);
      if (number < 2) {
        fill();
        details.open = true;
      }
      return details;
    }),
  );
}

// The lines of a block; a record and its fields are one element.
function records(text) {
  const made = [];
  let record;
  for (const line of text.split("\n")) {
    const head = line.match(RECORD);
    const field = record && line.match(FIELD);
    if (head) {
      record = element("span", { class: "record" }, head[1], ...bytes(head[2].split(" ")), `${head[3]}\n`);
      made.push(record);
    } else if (field) {
      const [, high, low = high, name, meaning] = field;
      record.append(element("span", { class: "bits", "data-high": high, "data-low": low, text: line }), "\n");
      for (const byte of record.querySelectorAll(".byte")) {
        if (overlaps(byte, { high, low })) byte.title += `${byte.title ? "\n" : ""}${name} ${meaning.replace(/ {2,}/g, ": ")}`;
      }
    } else {
      record = undefined;
      made.push(`${line}\n`);
    }
  }
  return made;
}

// The first byte is the record's code; bit 0 of the fields is the lowest one of the second byte.
function bytes(list) {
  return list.flatMap((text, number) => {
    const place = number === 0 ? { title: "the record's code" } : { "data-low": String(8 * number - 8), "data-high": String(8 * number - 1) };
    return [number ? " " : "", element("span", { class: "byte", ...place, text })];
  });
}

const overlaps = ({ dataset }, { high, low }) => dataset.low !== undefined && Number(dataset.low) <= Number(high) && Number(low) <= Number(dataset.high);

// Marks what the pointer is on, and its counterparts.
function point({ target, currentTarget }) {
  for (const marked of currentTarget.querySelectorAll(".on")) marked.classList.remove("on");
  const place = target.closest?.(".byte, .bits");
  if (!place || place.dataset.low === undefined) return;
  place.classList.add("on");
  const others = place.matches(".byte") ? ".bits" : ".byte";
  for (const other of place.closest(".record").querySelectorAll(others)) {
    if (overlaps(other, place.dataset)) other.classList.add("on");
  }
}
