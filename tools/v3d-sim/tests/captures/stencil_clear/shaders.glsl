// ---- program 0 vertex shader ----
attribute vec4 pos; attribute vec4 col; varying vec4 c; void main(){ gl_Position = pos; c = col; }
// ---- program 0 fragment shader ----
precision highp float;
varying vec4 c; void main(){ gl_FragColor = c; }
// ---- program 1 vertex shader ----
attribute vec4 pos; void main(){ gl_Position = pos; }
// ---- program 1 fragment shader ----
precision highp float;
uniform vec4 u; void main(){ gl_FragColor = u; }
