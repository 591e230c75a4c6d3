// The model in its worker, as promises. It can be ended at any time: a new worker then gets the source and the image again.

let worker;
let number = 0;
let open = new Map();
// What a new worker is told first.
const kept = { look: undefined, image: undefined };

function start() {
  worker = new Worker(new URL("worker.js", document.baseURI), { type: "module" });
  worker.onmessage = ({ data }) => {
    const waiting = open.get(data.id);
    open.delete(data.id);
    if (data.died) {
      restart();
      waiting?.reject(new Error(`the model was ended: ${data.died}`));
    } else if (data.answer.error) {
      waiting?.reject(new Error(data.answer.error));
    } else {
      waiting?.resolve(data);
    }
  };
  worker.onerror = (event) => {
    event.preventDefault();
    restart();
  };
}

function post(message) {
  if (!worker) start();
  const id = ++number;
  return new Promise((resolve, reject) => {
    open.set(id, { resolve, reject });
    worker.postMessage({ id, ...message });
  });
}

function restart() {
  worker?.terminate();
  worker = undefined;
  const waiting = open;
  open = new Map();
  for (const { reject } of waiting.values()) reject(new Error("stopped"));
  if (kept.image) post({ image: kept.image }).catch(() => {});
  if (kept.look) post({ question: kept.look }).catch(() => {});
}

// Asks a question; the answer's members, and `bytes` and `taken` (milliseconds) if bytes are asked for.
export async function ask(question, bytes = false) {
  if (question.ask === "look") kept.look = question;
  const { answer, bytes: returned, taken } = await post({ question, bytes });
  return { ...answer, bytes: returned, taken };
}

export function setImage(image) {
  kept.image = image;
  return post({ image });
}

// Whether something is being computed.
export const isBusy = () => open.size > 0;

// Ends what is being computed.
export function stop() {
  if (isBusy()) restart();
}
