//! A small scene, some of whose bytes are changed.

#![no_main]

use arbitrary::Unstructured;
use libfuzzer_sys::fuzz_target;
use std::cell::RefCell;
use v3d_sim_fuzz::Scene;

thread_local! {
    static SCENE: RefCell<Option<Scene>> = RefCell::new(Scene::load());
}

fuzz_target!(|data: &[u8]| {
    SCENE.with_borrow_mut(|scene| {
        let scene = scene.as_mut().expect("the scene is part of the fuzzer");
        // Too few bytes are no case.
        let _ = scene.mutated(&mut Unstructured::new(data));
    });
});
