// A worker in which the model runs. A message has a question for it, or something that is given to shaders; the answer goes back with the number of the message,
// and with bytes if some were asked for.

import init, { Playground } from "playground-module";

const ready = init({ module_or_path: new URL("playground_bg.wasm", import.meta.url) });
let playground;

function take({ image, cube, model }) {
  if (image) return playground.set_image(image.width, image.height, image.rgba);
  if (cube) return playground.set_cube(cube.side, cube.rgba);
  return playground.set_model(model.name, model.bytes);
}

async function answer({ id, question, given, bytes }) {
  await ready;
  playground ??= new Playground();
  if (given) {
    const error = take(given);
    return { id, answer: error ? { error } : {} };
  }
  const started = performance.now();
  const answer = JSON.parse(playground.answer(JSON.stringify(question)));
  const taken = performance.now() - started;
  return { id, answer, taken, bytes: bytes && !answer.error ? playground.bytes() : undefined };
}

let last = Promise.resolve();
onmessage = ({ data }) => {
  last = last.then(async () => {
    try {
      const message = await answer(data);
      postMessage(message, message.bytes ? [message.bytes.buffer] : []);
    } catch (error) {
      // Memory or stack of the module are exhausted: it cannot go on.
      postMessage({ id: data.id, died: String(error) });
    }
  });
};
