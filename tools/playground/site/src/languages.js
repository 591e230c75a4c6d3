// Highlighting of WGSL and of QPU assembly.

import { StreamLanguage } from "@codemirror/language";

const words = (text) => new Set(text.split(/\s+/));

const WGSL_KEYWORDS = words(
  "alias break case const const_assert continue continuing default diagnostic discard else enable false fn for if let loop override requires return struct " +
    "switch true var while",
);
export const WGSL_TYPES = words(
  "array atomic bool f16 f32 i32 u32 mat2x2 mat3x3 mat4x4 ptr sampler texture_2d texture_cube vec2 vec3 vec4 vec2f vec3f vec4f vec2i vec3i vec4i mat3x3f mat4x4f",
);
export const WGSL_FUNCTIONS = words(
  "abs acos all any asin atan atan2 ceil clamp cos cross degrees distance dot exp exp2 faceForward floor fma fract inverseSqrt length log log2 max min mix " +
    "modf normalize pow radians reflect refract round saturate select sign sin smoothstep sqrt step tan textureDimensions textureSample textureSampleBias " +
    "textureSampleLevel trunc",
);

export const wgsl = StreamLanguage.define({
  name: "wgsl",
  startState: () => ({ depth: 0 }),
  token(stream, state) {
    if (state.depth > 0) {
      while (!stream.eol()) {
        if (stream.match("*/")) {
          state.depth -= 1;
          if (state.depth === 0) break;
        } else if (stream.match("/*")) state.depth += 1;
        else stream.next();
      }
      return "comment";
    }
    if (stream.eatSpace()) return null;
    if (stream.match("//")) {
      stream.skipToEnd();
      return "comment";
    }
    if (stream.match("/*")) {
      state.depth = 1;
      return "comment";
    }
    if (stream.match(/^@[a-z_]+/)) return "meta";
    if (stream.match(/^(0x[0-9a-fA-F]+[iu]?|\d+\.?\d*([eE][+-]?\d+)?[fhiu]?|\.\d+([eE][+-]?\d+)?[fh]?)/)) return "number";
    const word = stream.match(/^[A-Za-z_]\w*/);
    if (word) {
      if (WGSL_KEYWORDS.has(word[0])) return "keyword";
      if (WGSL_TYPES.has(word[0])) return "typeName";
      if (WGSL_FUNCTIONS.has(word[0])) return "function";
      return "variableName";
    }
    stream.next();
    return "operator";
  },
  languageData: { commentTokens: { line: "//" }, closeBrackets: { brackets: ["(", "[", "{"] } },
});

export const qasm = StreamLanguage.define({
  name: "qasm",
  startState: () => ({ first: true }),
  token(stream, state) {
    if (stream.sol()) state.first = true;
    if (stream.eatSpace()) return null;
    if (stream.match("#") || stream.match("//")) {
      stream.skipToEnd();
      return "comment";
    }
    if (stream.match(/^:\w+/) || stream.match(/^\w+:/)) return "labelName";
    if (stream.match(/^\.[a-z_][\w]*/)) {
      const is = state.first ? "meta" : "attributeName";
      return is;
    }
    if (stream.match(/^(0x[0-9a-fA-F_]+|0b[01_]+|\d[\d_]*(\.\d+)?(e[+-]?\d+)?)/)) return "number";
    if (stream.eat(";")) {
      state.first = true;
      return "operator";
    }
    const word = stream.match(/^[A-Za-z_]\w*/);
    if (word) {
      const isFirst = state.first;
      state.first = false;
      if (/^(r[ab]?\d+|unif|vary|vpm|vr_\w+|vw_\w+|t[01][strb]|tlb\w*|elem_num|qpu_num|recip\w*|rsqrt\w*|exp2?|log2?|mutex\w*|unif_addr\w*)$/.test(word[0])) return "variableName";
      if (/^(ldtmu[01]|thrsw|lthrsw|thrend|sbwait|sbdone|loadc\w*|loadam|bkpt)$/.test(word[0])) return "keyword";
      return isFirst ? "function" : "typeName";
    }
    stream.next();
    return "operator";
  },
  languageData: { commentTokens: { line: "#" } },
});
