//! Driver of the VideoCore IV 3D engine, generic over registers, memory, time and interrupts
