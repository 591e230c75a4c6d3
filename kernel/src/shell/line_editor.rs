//! Editing of a command line
