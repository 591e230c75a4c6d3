//! The VideoCore IV 3D hardware as its architecture guide describes it: every layout once, no behaviour
