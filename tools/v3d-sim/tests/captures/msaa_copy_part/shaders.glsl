// ---- program 0 vertex shader ----
attribute vec4 pos; attribute vec4 col; varying vec4 c; void main(){ gl_Position = pos; c = col; }
// ---- program 0 fragment shader ----
varying vec4 c; void main(){ gl_FragColor = c; }
