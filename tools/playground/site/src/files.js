// Files that are opened or dropped: pictures, six of them for a cube map, models, sources.

import { give } from "./model.js";

const MOST_SIDE = 512;
// Names of faces, in the order +x, -x, +y, -y, +z, -z.
const FACES = [/(^|[^a-z])(px|posx|right|\+x)/, /(^|[^a-z])(nx|negx|left|-x)/, /(^|[^a-z])(py|posy|top|up|\+y)/, /(^|[^a-z])(ny|negy|bottom|down|-y)/, /(^|[^a-z])(pz|posz|front|\+z)/, /(^|[^a-z])(nz|negz|back|-z)/];

const isPicture = ({ type }) => type.startsWith("image/");
const isModel = ({ name }) => /\.(glb|gltf|obj)$/i.test(name);
const isSource = ({ name }) => /\.(wgsl|qasm)$/i.test(name);

// A picture's pixels, scaled to a size that is chosen of its own.
async function pixels(file, size) {
  let bitmap;
  try {
    bitmap = await createImageBitmap(file);
  } catch {
    throw new Error(`${file.name}: it is no picture that this browser can read`);
  }
  const [width, height] = size(bitmap);
  const canvas = new OffscreenCanvas(width, height);
  const context = canvas.getContext("2d");
  context.drawImage(bitmap, 0, 0, width, height);
  return { width, height, rgba: new Uint8Array(context.getImageData(0, 0, width, height).data.buffer) };
}

function within({ width, height }) {
  const scale = Math.min(1, MOST_SIDE / Math.max(width, height));
  return [width, height].map((side) => Math.max(1, Math.round(side * scale)));
}

// Six files as faces: by their names, or in the order of these if they do not say.
export function faces(files) {
  const byName = FACES.map((face) => files.filter(({ name }) => face.test(name.toLowerCase())));
  if (byName.every((found) => found.length === 1) && new Set(byName.flat()).size === 6) return byName.flat();
  return files.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

async function cube(files) {
  const six = faces(files);
  const first = await pixels(six[0], within);
  const side = Math.max(1, 2 ** Math.floor(Math.log2(Math.max(first.width, first.height))));
  const parts = await Promise.all(six.map((file) => pixels(file, () => [side, side])));
  const rgba = new Uint8Array(6 * 4 * side * side);
  parts.forEach((part, number) => rgba.set(part.rgba, number * 4 * side * side));
  await give({ cube: { side, rgba } });
}

// Takes files, and says what came of them: `{ picture }`, `{ cube }`, `{ model: { name, bytes } }` or `{ source, language, name }`.
export async function take(files) {
  if (files.length === 6 && files.every(isPicture)) {
    await cube(files);
    return { cube: true };
  }
  if (files.length !== 1) throw new Error("One file can be dropped here at a time, or the six pictures of a cube map.");
  const [file] = files;
  if (isPicture(file)) {
    await give({ image: await pixels(file, within) });
    return { picture: true };
  }
  if (isModel(file)) {
    const model = { name: file.name, bytes: new Uint8Array(await file.arrayBuffer()) };
    await give({ model });
    return { model };
  }
  if (isSource(file)) return { source: await file.text(), language: file.name.toLowerCase().endsWith("qasm") ? "qasm" : "wgsl", name: file.name };
  throw new Error(`${file.name}: pictures, models (.glb, .gltf, .obj) and sources (.wgsl, .qasm) can be dropped here`);
}
