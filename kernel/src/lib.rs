//! A bare-metal kernel for the Raspberry Pi 3 family that draws with the VideoCore IV 3D engine
