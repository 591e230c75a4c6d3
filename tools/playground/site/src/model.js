// The model in workers, as promises. A worker can be ended at any time: a new one then gets the source, the pictures and the model again.
//
// Where the page is cross-origin isolated, a browser gives it a process of its own, and it starts a worker for each core, up to four; otherwise it starts one.
// Each knows everything. What needs nothing but that goes to whoever has least to do: frames of an animation are drawn side by side, and a frame's costs are
// estimated beside its picture. What goes on from an earlier answer, a pixel's history and the stepper, is the last worker's. The answers are the same.

const MOST_WORKERS = 4;
const GOES_ON = new Set(["pixel", "steprun", "stepprogram", "stepcompute", "step"]);

export const workerCount = globalThis.crossOriginIsolated ? Math.min(Math.max(navigator.hardwareConcurrency ?? 1, 1), MOST_WORKERS) : 1;

// Each has its worker, and what waits for an answer of it.
const places = Array.from({ length: workerCount }, () => ({ worker: undefined, open: new Map() }));
// What a new worker is told first: the source, and what was given by `give`.
const kept = { look: undefined, given: new Map() };
let number = 0;

function start(place) {
  const worker = new Worker(new URL("worker.js", document.baseURI), { type: "module" });
  place.worker = worker;
  worker.onmessage = ({ data }) => {
    const waiting = place.open.get(data.id);
    place.open.delete(data.id);
    if (data.died) {
      restart(place);
      waiting?.reject(new Error(`the model was ended: ${data.died}`));
    } else if (data.answer.error) {
      waiting?.reject(new Error(data.answer.error));
    } else {
      waiting?.resolve(data);
    }
  };
  worker.onerror = (event) => {
    event.preventDefault();
    restart(place);
  };
  for (const given of kept.given.values()) post(place, { given }).catch(() => {});
  if (kept.look) post(place, { question: kept.look }).catch(() => {});
}

function post(place, message) {
  if (!place.worker) start(place);
  const id = ++number;
  return new Promise((resolve, reject) => {
    place.open.set(id, { resolve, reject });
    place.worker.postMessage({ id, ...message });
  });
}

// The worker is ended; a new one starts when it is asked for something.
function restart(place) {
  place.worker?.terminate();
  place.worker = undefined;
  const waiting = place.open;
  place.open = new Map();
  for (const { reject } of waiting.values()) reject(new Error("stopped"));
}

// Tells all workers; the answer is that of the first one.
function tell(message) {
  const [first, ...others] = places.map((place) => post(place, message));
  for (const other of others) other.catch(() => {});
  return first;
}

const idlest = () => places.reduce((best, place) => (place.open.size < best.open.size ? place : best));

// Asks a question; the answer's members, and `bytes` and `taken` (milliseconds) if bytes are asked for.
export async function ask(question, bytes = false) {
  let answered;
  if (question.ask === "look") {
    kept.look = undefined;
    answered = tell({ question });
    kept.look = question;
  } else {
    answered = post(GOES_ON.has(question.ask) ? places.at(-1) : idlest(), { question, bytes });
  }
  const { answer, bytes: returned, taken } = await answered;
  return { ...answer, bytes: returned, taken };
}

// Gives a picture, a cube map or a model: `{ image }`, `{ cube }` or `{ model }`. What is refused is not kept.
export async function give(given) {
  await tell({ given });
  kept.given.set(Object.keys(given)[0], given);
}

// Ends what is being computed.
export function stop() {
  for (const place of places) if (place.open.size > 0) restart(place);
}
