//! QPU shaders, assembled and checked at build time into typed constants
