// Files for the person: one, or several in a ZIP archive without compression; the crate of shaders.

import buildScript from "../../../../kernel/renderer/guide/shaders/build.rs";

export function download(name, content) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([content]));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

const TABLE = Uint32Array.from({ length: 256 }, (_, n) => {
  for (let bit = 0; bit < 8; bit += 1) n = n & 1 ? 0xedb88320 ^ (n >>> 1) : n >>> 1;
  return n;
});

function crc32(bytes) {
  let crc = ~0;
  for (const byte of bytes) crc = TABLE[(crc ^ byte) & 255] ^ (crc >>> 8);
  return ~crc >>> 0;
}

// A ZIP archive of files that are stored as they are [PKWARE APPNOTE 4.3].
export function zip(files) {
  const encoder = new TextEncoder();
  const parts = [];
  const directory = [];
  let offset = 0;
  for (const [name, content] of files) {
    const bytes = typeof content === "string" ? encoder.encode(content) : content;
    const path = encoder.encode(name);
    const common = [[2, 20], [2, 0x800], [2, 0], [2, 0], [2, 0x21], [4, crc32(bytes)], [4, bytes.length], [4, bytes.length], [2, path.length], [2, 0]];
    const header = fields([[4, 0x04034b50], ...common]);
    parts.push(header, path, bytes);
    directory.push(fields([[4, 0x02014b50], [2, 20], ...common, [2, 0], [2, 0], [2, 0], [4, 0], [4, offset]]), path);
    offset += header.length + path.length + bytes.length;
  }
  const length = directory.reduce((sum, part) => sum + part.length, 0);
  const end = fields([[4, 0x06054b50], [2, 0], [2, 0], [2, files.length], [2, files.length], [4, length], [4, offset], [2, 0]]);
  return new Blob([...parts, ...directory, end]);
}

function fields(list) {
  const bytes = [];
  for (const [size, value] of list) for (let at = 0; at < size; at += 1) bytes.push((value >>> (8 * at)) & 255);
  return Uint8Array.from(bytes);
}

const MANIFEST = `[package]
name = "playground-shaders"
version = "0.1.0"
edition = "2024"

# Beside a checkout of the repository, called \`v3d\`.
[dependencies]
shader-interface = { path = "../v3d/qpu-shaders/interface" }

[build-dependencies]
shader-build = { path = "../v3d/tools/shader-build" }
`;

const LIBRARY = `//! The shader of the playground, and the types of what feeds it.
#![no_std]

include!(concat!(env!("OUT_DIR"), "/shaders.rs"));
`;

// A crate of shaders, as the repository's guide has one, whose build script it has.
export function crateFiles(language, { stage = "user", threads } = {}, source) {
  const kind = { fragment: "frag", coordinate: "coord", vertex: "vert" }[stage] ?? "user";
  return [
    ["shaders/Cargo.toml", MANIFEST],
    ["shaders/build.rs", buildScript],
    ["shaders/src/lib.rs", LIBRARY],
    language === "qasm" ? [`shaders/shaders/playground.${kind}.qasm`, declared(source, stage, threads)] : ["shaders/shaders/playground.wgsl", source],
  ];
}

// A crate demands what the page takes for granted: that a program declares its stage, and a fragment shader its threads.
function declared(source, stage, threads) {
  const has = (directive) => new RegExp(`^\\s*\\.${directive}\\b`, "m").test(source);
  const lines = [
    ...(has("stage") ? [] : [`.stage ${stage}\n`]),
    ...(stage !== "fragment" || has("threads") ? [] : [`.threads ${threads}\n`]),
  ];
  return lines.join("") + source;
}
