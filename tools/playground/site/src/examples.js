// The examples: their sources, a sentence each, and for puzzles what is asked.

import reverseBlocks from "../../../../kernel/compute/shaders/reverse_blocks.wgsl";
import saxpy from "../../../../kernel/compute/shaders/saxpy.wgsl";
import planet from "../../../../kernel/renderer/guide/shaders/shaders/planet.wgsl";
import coordinates from "../../../../qpu-shaders/shaders/coordinate_test.user.qasm";
import balls from "../examples/balls.wgsl";
import checkers from "../examples/checkers.wgsl";
import circle from "../examples/circle.wgsl";
import collatz from "../examples/collatz.wgsl";
import doubled from "../examples/doubled.wgsl";
import exponentials from "../examples/exponentials.wgsl";
import flight from "../examples/flight.wgsl";
import gradient from "../examples/gradient.wgsl";
import interpolation from "../examples/interpolation.qasm";
import lighthouse from "../examples/lighthouse.wgsl";
import lit from "../examples/lit.wgsl";
import lookup from "../examples/lookup.wgsl";
import loop from "../examples/loop.qasm";
import mandelbrot from "../examples/mandelbrot.wgsl";
import mirror from "../examples/mirror.wgsl";
import mouse from "../examples/mouse.wgsl";
import oneColor from "../examples/one_color.qasm";
import oneLine from "../examples/one_line.wgsl";
import plasma from "../examples/plasma.wgsl";
import puzzleBarrier from "../examples/puzzle_barrier.wgsl";
import puzzleDisc from "../examples/puzzle_disc.wgsl";
import puzzleHazard from "../examples/puzzle_hazard.qasm";
import puzzlePair from "../examples/puzzle_pair.qasm";
import puzzleShorter from "../examples/puzzle_shorter.wgsl";
import puzzleSlots from "../examples/puzzle_slots.qasm";
import puzzleVertex from "../examples/puzzle_vertex.wgsl";
import puzzleWait from "../examples/puzzle_wait.qasm";
import rim from "../examples/rim.wgsl";
import rings from "../examples/rings.wgsl";
import sfu from "../examples/sfu.qasm";
import stars from "../examples/stars.wgsl";
import store from "../examples/store.qasm";
import texture from "../examples/texture.qasm";
import textured from "../examples/textured.wgsl";
import time from "../examples/time.wgsl";
import triangle from "../examples/triangle.wgsl";
import tunnel from "../examples/tunnel.wgsl";
import waves from "../examples/waves.wgsl";

const wgsl = (group, name, source, sentence, more = {}) => ({ group, name, language: "wgsl", source, sentence, ...more });
const qasm = (group, name, source, sentence, more = {}) => ({ group, name, language: "qasm", source, sentence, ...more });

export const EXAMPLES = [
  wgsl("Shapes", "Planet", planet, "A gas giant without a texture: its clouds are sums of displaced sines. It is the shader of the guide's eleventh step.", { shape: "sphere", values: { to_sun: [-0.75, 0.35, 0.561249], air: [0.4, 0.54, 0.9] } }),
  wgsl("Shapes", "Lit", lit, "Light by the cosine between normal and sun. Try the cube: its normals are the same all over a face.", { shape: "sphere" }),
  wgsl("Shapes", "Textured", textured, "A texture on a cube; drop a picture onto the page to see it there. The lookup is started early and waited for late.", { shape: "cube" }),
  wgsl("Shapes", "Rim", rim, "Bright where the surface turns away: two vectors are normalised for each pixel, which is what the reciprocal square roots are for.", { shape: "sphere" }),
  wgsl("Shapes", "Waves", waves, "The vertex shader moves the corners. Compare the three programs: the coordinate shader is the part of it that the binner needs.", { shape: "sphere" }),
  wgsl("Shapes", "Lighthouse", lighthouse, "A model of 6,400 triangles in eight materials. Drop one of your own onto the page: .glb or .obj.", { shape: "lighthouse", values: { to_sun: [0.55, 0.4, 0.5] } }),
  wgsl("Shapes", "Mirror", mirror, "A cube map: six pictures around, looked up by a direction. Drop six of your own onto the page.", { shape: "sphere" }),
  wgsl("First lines", "Triangle", triangle, "Three corners, each with its number and a colour of its own; what lies between is interpolated.", { shape: "triangle" }),
  wgsl("First lines", "One line", oneLine, "One colour. Which instructions remain, and which of them are the pipeline's?"),
  wgsl("First lines", "Gradient", gradient, "The place of a pixel, divided by the size of the picture: a division is a reciprocal and a correction."),
  wgsl("First lines", "Time", time, "A uniform that changes: press Play."),
  wgsl("First lines", "Circle", circle, "A distance with a soft edge."),
  wgsl("First lines", "Checkers", checkers, "Integers: the QPU has no division of them, and a division by 20 is a multiplication."),
  wgsl("First lines", "Mouse", mouse, "A lamp at the mouse: drag over the picture."),
  wgsl("Pictures", "Plasma", plasma, "Four sines, with a slider for the uniform zoom."),
  wgsl("Pictures", "Mandelbrot", mandelbrot, "A loop that ends at different times in 16 elements: turn on Tiles to see where it takes longest."),
  wgsl("Pictures", "Rings", rings, "Rings finer than pixels become other rings."),
  wgsl("Pictures", "Stars", stars, "Three layers of cells, each with a star at a random place."),
  wgsl("Pictures", "Tunnel", tunnel, "An angle and a distance: atan2 is made of a polynomial."),
  wgsl("Pictures", "Balls", balls, "Five fields that flow into each other."),
  wgsl("Pictures", "Flight", flight, "A flight through a sponge without triangles: a ray for each pixel, by the distance to the next wall. Try Play, and Tiles."),
  wgsl("Costs", "Two lookups", lookup, "The second lookup waits for the first: see what it waits for in the tab Cost, and that two threads share the QPU."),
  wgsl("Costs", "Exponentials", exponentials, "What accuracy costs: exp2, pow and log2 beside the bare special function unit."),
  qasm("Assembly", "One colour", oneColor, "A colour in r0 is a whole fragment shader; the pipeline stores it."),
  qasm("Assembly", "Interpolation by hand", interpolation, "What a varying is on this GPU: a product with W, and a constant that comes into r5."),
  qasm("Assembly", "A lookup by its words", texture, "Coordinates are written, parameters come from the uniforms, the result is loaded into r4."),
  qasm("Assembly", "Special functions", sfu, "A reciprocal takes three instructions to arrive in r4. What could stand in between?"),
  qasm("Assembly", "A loop", loop, "A user program to step through: see the delay slots of its branch. Open the tab Step and start it."),
  qasm("Assembly", "Through the VPM to memory", store, "A user program that writes 16 numbers to memory. Open the tab Step, start it, and see VPM and memory."),
  qasm("Assembly", "A coordinate shader, printed", coordinates, "One vertex to clip coordinates and back to the screen, as JayStation's article has it: start it in the tab Step, run it, and compare the seven rows at 0x9000.", { uniforms: "0x1c000200, 1.0, 1.0, 0x9000" }),
  wgsl("Computing", "Twice as much", doubled, "One number for each invocation: 16 of them are a vector, which the TMU reads and the VPM stores."),
  wgsl("Computing", "a x + y", saxpy, "Two buffers and a uniform, in four programs. Change numbers and see what comes out; step through one of the programs.", { values: { factor: [0.5] } }),
  wgsl("Computing", "Steps to 1", collatz, "A loop of different length in each element: see how often its instructions were executed, and how little of that the last elements needed."),
  wgsl("Computing", "Turned round", reverseBlocks, "Invocations that meet at a barrier: all four programs of a workgroup run at the same time, and wait for each other."),
  wgsl("Puzzles", "Make it shorter", puzzleShorter, "The same picture in fewer instructions: the fragment shader must have at most 32.", { puzzle: { kind: "shorter", most: 32 } }),
  qasm("Puzzles", "Find the hazard", puzzleHazard, "The checker is unhappy. Mend the program without leaving anything out.", { puzzle: { kind: "clean", least: 11 } }),
  qasm("Puzzles", "Two at a time", puzzlePair, "Each instruction can add and multiply. The same picture in at most 12 of them, please.", { puzzle: { kind: "shorter", most: 12 } }),
  wgsl("Puzzles", "Once, not 57,600 times", puzzleVertex, "What is the same for all pixels, or goes evenly from corner to corner, need not be computed for each: at most 16 instructions in the fragment shader.", { puzzle: { kind: "shorter", most: 16, few: 60 } }),
  qasm("Puzzles", "Ask early, wait late", puzzleWait, "The same picture in at most 56,000 cycles for the frame; the tab Cost has the count.", { puzzle: { kind: "cycles", most: 56000 } }),
  wgsl("Puzzles", "Draw a disc", puzzleDisc, "A white disc on black, in the middle, with a radius of a quarter of the picture's height.", { puzzle: { kind: "picture", pixel: (x, y, width, height) => (Math.hypot(x + 0.5 - width / 2, y + 0.5 - height / 2) < height / 4 ? [255, 255, 255, 255] : [0, 0, 0, 255]), few: 10 } }),
  wgsl("Puzzles", "Wait for the others", puzzleBarrier, "The blocks of 64 numbers are to be turned round, and are not. What is missing?", { puzzle: { kind: "buffer", name: "turned", word: (at, { given }) => given[at - (at % 64) + 63 - (at % 64)] } }),
  qasm("Puzzles", "Empty slots", puzzleSlots, "The sum of 1 to 20 is right, after 131 instructions. It is to be stored after at most 115.", { uniforms: "0x9000", puzzle: { kind: "steps", uniforms: [0x9000], address: 0x9000, words: Array(8).fill(210), most: 115 } }),
];
