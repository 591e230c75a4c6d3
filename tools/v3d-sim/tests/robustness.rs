//! The fuzz targets, for a second each: arbitrary bytes never panic or hang the model, and all engines agree.

#[path = "../fuzz/src/lib.rs"]
#[expect(unreachable_pub, reason = "the targets are a crate of their own when they are fuzzed")]
mod targets;

use arbtest::arbtest;

#[test]
fn control_lists() {
    arbtest(targets::control_lists).budget_ms(1000).size_min(64).size_max(4096);
}

#[test]
fn registers() {
    arbtest(targets::registers).budget_ms(1000).size_min(512).size_max(4096);
}

#[test]
fn qpu_code() {
    arbtest(targets::qpu_code).budget_ms(1000).size_min(256).size_max(4096);
}

#[test]
fn translated_code() {
    arbtest(targets::translated_code).budget_ms(1000).size_min(64).size_max(2048);
}

#[test]
fn textures() {
    arbtest(targets::textures).budget_ms(1000).size_min(2048).size_max(8192);
}

#[test]
fn compressed_lists() {
    arbtest(targets::compressed_lists).budget_ms(1000).size_min(64).size_max(2048);
}

#[test]
fn mutated_scenes() {
    let mut scene = targets::Scene::load().expect("the scene is part of the tests");
    arbtest(|u| scene.mutated(u)).budget_ms(2000).size_min(64).size_max(512);
}
