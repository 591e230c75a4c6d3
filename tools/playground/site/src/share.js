// A source and its settings in the fragment of the address: a version, a colon, and compressed JSON. Old versions stay readable: a new one gets a new number,
// and `read` keeps the way of the old.

const VERSION = "1";

async function through(stream, bytes) {
  const piped = new Blob([bytes]).stream().pipeThrough(stream);
  return new Uint8Array(await new Response(piped).arrayBuffer());
}

export async function write(state) {
  const bytes = await through(new CompressionStream("deflate-raw"), new TextEncoder().encode(JSON.stringify(state)));
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return `#${VERSION}:${btoa(text).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "")}`;
}

// The state in a fragment; undefined if there is none, an error if it cannot be read.
export async function read(fragment) {
  const found = /^#(\d+):([\w-]+)$/.exec(fragment);
  if (!found) return undefined;
  const [, version, coded] = found;
  if (version !== VERSION) throw new Error(`this link is of version ${version}, which this page does not know`);
  const text = atob(coded.replaceAll("-", "+").replaceAll("_", "/"));
  const bytes = Uint8Array.from(text, (letter) => letter.charCodeAt(0));
  const state = JSON.parse(new TextDecoder().decode(await through(new DecompressionStream("deflate-raw"), bytes)));
  if (typeof state.source !== "string" || !["wgsl", "qasm"].includes(state.language)) throw new Error("this link holds no source");
  return state;
}
