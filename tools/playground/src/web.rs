//! The functions that the page's worker calls.

use crate::answer;
use wasm_bindgen::prelude::wasm_bindgen;

/// The playground of a worker.
#[wasm_bindgen]
#[derive(Debug, Default)]
pub struct Playground(answer::Playground);

#[wasm_bindgen]
impl Playground {
    /// A playground without a source.
    #[wasm_bindgen(constructor)]
    pub fn new() -> Self {
        Self::default()
    }

    /// Answers a question; both are JSON.
    pub fn answer(&mut self, question: &str) -> String {
        self.0.answer(question)
    }

    /// The bytes that belong to the last answer.
    pub fn bytes(&self) -> Vec<u8> {
        self.0.bytes().to_vec()
    }

    /// Takes the picture for textures; returns what is wrong with it, or nothing.
    pub fn set_image(&mut self, width: u32, height: u32, rgba: Vec<u8>) -> Option<String> {
        self.0.set_image(width, height, rgba).err()
    }

    /// Takes the six pictures of a cube map; returns what is wrong with them, or nothing.
    pub fn set_cube(&mut self, side: u32, rgba: &[u8]) -> Option<String> {
        self.0.set_cube(side, rgba).err()
    }

    /// Takes a model; returns what is wrong with it, or nothing.
    pub fn set_model(&mut self, name: &str, bytes: Vec<u8>) -> Option<String> {
        self.0.set_model(name, bytes).err()
    }
}
