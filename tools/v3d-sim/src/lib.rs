//! A model of the whole VideoCore IV 3D engine: control list bytes in, stored pixels out
