//! QEMU plugin: the V3D model behind the raspi3b registers
