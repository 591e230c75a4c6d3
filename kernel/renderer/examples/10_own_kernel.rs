//! Step 10: a kernel of one's own.
//!
//! Driver and renderer do not know the board. A kernel implements four small traits for it: registers, memory, time, power. [`Board`] does so for
//! a Raspberry Pi 3, with the addresses that are in its bus; all that it asks for is a [`Bus`], loads and stores of physical addresses. On a Pi these are two
//! volatile accesses. Here, at the end of this file, they are the model's registers and memory, so that the same `kernel_main` runs on the host.
//!
//! What is before `kernel_main` on a Pi: exception level 1, the MMU with normal non-cacheable memory for the pool and device memory from 0x3f00_0000 on,
//! and two requests of the firmware's mailbox: "enable QPU" (tag 0x0003_0012), which powers the V3D, and a framebuffer of 32-bit pixels.

use core::cell::Cell;

use qpu_shaders::{
    NoUniforms, smooth,
    transformed::{SHADING, Uniforms, Vertex},
};
use renderer::{
    Device, Error, Mesh, PassDescriptor, Pipeline, PipelineDescriptor, Primitive, Target,
    glam::{Mat4, Vec3},
    rows, unorm,
};
use v3d::hw::{ArmPhys, BusAddr, registers::Register};
use v3d::platform::{GpuMemory, Power, PowerError, RegisterAccess, Time};
use v3d::{Driver, Fence, Interrupts, Limits, Platform};
use v3d_host::{Config, Model, Picture};

/// Loads and stores of words at physical addresses, in the order in which they stand in the program.
///
/// On a Pi, `load` is `(address as *const u32).read_volatile()` and then the instruction `dsb sy`, `store` is `dsb sy` and then
/// `(address as *mut u32).write_volatile(word)`: what was written to memory has to be there when a register starts the GPU.
pub trait Bus {
    /// Loads a word.
    fn load(&self, address: u32) -> u32;
    /// Stores a word.
    fn store(&self, address: u32, word: u32);
}

/// A Raspberry Pi 3 with what lies at these addresses of its bus [kernel/src/board].
#[derive(Debug)]
pub struct Board<B>(pub B);

/// The V3D's registers.
const V3D: u32 = 0x3fc0_0000;
/// The system timer's count of microseconds.
const TIMER_LOW: u32 = 0x3f00_3004;
const TIMER_HIGH: u32 = 0x3f00_3008;
/// The power manager's word for the graphics; bit 6 at 0 holds the V3D in reset.
const PM_GRAFX: u32 = 0x3f10_010c;
const V3DRSTN: u32 = 1 << 6;
/// The bridges between V3D and bus. Bit 0 asks one to stop, and bit 1 says that it has.
const V3D_SLAVE: u32 = 0x3f00_a008;
const V3D_MASTER: u32 = 0x3f00_a00c;
/// What makes the power manager and the bridges listen.
const PASSWORD: u32 = 0x5a00_0000;
/// Memory that belongs to the GPU's driver, page by page not cached.
const POOL: u32 = 0x0100_0000;
const POOL_BYTES: u32 = 8 << 20;

impl<B: Bus> RegisterAccess for Board<B> {
    fn read(&self, register: Register) -> u32 {
        self.0.load(V3D + register.offset())
    }

    fn write(&self, register: Register, value: u32) {
        self.0.store(V3D + register.offset(), value);
    }
}

impl<B: Bus> GpuMemory for Board<B> {
    fn base(&self) -> BusAddr {
        ArmPhys(POOL).to_bus() // the GPU sees the same memory at another address
    }

    fn bytes(&self) -> u32 {
        POOL_BYTES
    }

    fn store(&self, offset: u32, bytes: &[u8]) {
        // Byte by byte; a kernel that is in a hurry copies whole words.
        for (at, &byte) in (offset..POOL_BYTES).zip(bytes) {
            let (word, shift) = (POOL + at / 4 * 4, at % 4 * 8);
            self.0.store(word, self.0.load(word) & !(0xff << shift) | u32::from(byte) << shift);
        }
    }

    fn load(&self, offset: u32, bytes: &mut [u8]) {
        bytes.fill(0);
        for (at, byte) in (offset..POOL_BYTES).zip(bytes) {
            *byte = (self.0.load(POOL + at / 4 * 4) >> (at % 4 * 8)) as u8;
        }
    }
}

impl<B: Bus> Time for Board<B> {
    fn now_us(&self) -> u64 {
        loop {
            let (high, low) = (self.0.load(TIMER_HIGH), self.0.load(TIMER_LOW));
            // The low word may have run over in between.
            if self.0.load(TIMER_HIGH) == high {
                return u64::from(high) << 32 | u64::from(low);
            }
        }
    }

    fn wait_until(&self, _deadline_us: u64) {
        // Whoever has interrupts sleeps here until the V3D's (GPU interrupt 10) or the deadline. Coming back early only means that the driver looks again.
    }
}

impl<B: Bus> Power for Board<B> {
    fn reset(&self) -> Result<(), PowerError> {
        let ask = |bridge: u32, stop: u32| {
            self.0.store(bridge, PASSWORD | stop);
            let limit = self.now_us() + 1000;
            while self.0.load(bridge) >> 1 & 1 != stop {
                if self.now_us() > limit {
                    return Err(PowerError("a bus bridge does not follow"));
                }
            }
            Ok(())
        };
        // No transfer may be under way when the reset comes.
        ask(V3D_SLAVE, 1)?;
        ask(V3D_MASTER, 1)?;
        let grafx = self.0.load(PM_GRAFX) & 0x00ff_ffff;
        self.0.store(PM_GRAFX, PASSWORD | grafx & !V3DRSTN);
        let until = self.now_us() + 2;
        while self.now_us() < until {}
        self.0.store(PM_GRAFX, PASSWORD | grafx | V3DRSTN);
        ask(V3D_MASTER, 0)?;
        ask(V3D_SLAVE, 0)
    }
}

/// What the firmware's mailbox answered when it was asked for a framebuffer.
#[derive(Clone, Copy, Debug)]
pub struct Framebuffer {
    /// First byte of the first row.
    pub address: u32,
    /// Width in pixels.
    pub width_px: u32,
    /// Height in pixels.
    pub height_px: u32,
}

/// The whole kernel: brings the GPU up, and draws so many frames to the display.
pub fn kernel_main<B: Bus>(board: &Board<B>, framebuffer: Framebuffer, frames: u16) -> Result<(), Error> {
    let interrupts = Interrupts::new();
    let device = Device::new(Driver::bring_up(board, &interrupts, Limits::default())?);
    let Framebuffer { address, width_px, height_px } = framebuffer;
    let page = Target::page("display", ArmPhys(address).to_bus(), width_px, height_px, 4 * width_px)?;
    let squares = Squares::new(&device)?;
    for number in 0..frames {
        let fence = squares.draw(&device, &page, number)?;
        device.wait(fence)?;
    }
    Ok(())
}

/// Squares in squares, each turned a little against the one around it.
struct Squares {
    /// A light one and a dark one.
    meshes: [Mesh<Vertex>; 2],
    pipeline: Pipeline<Vertex, Uniforms, NoUniforms>,
}

/// How many squares there are.
pub const SQUARES: u16 = 36;
/// How much smaller each is than the one around it.
pub const SHRINK: f32 = 0.9;
/// How far it is turned.
pub const TURN: f32 = 0.12;
/// Red, green, blue from 0 to 1 of the outer squares.
pub const COLORS: [[f32; 3]; 2] = [[0.98, 0.72, 0.25], [0.36, 0.16, 0.42]];

impl Squares {
    fn new<P: Platform>(device: &Device<'_, P>) -> Result<Self, Error> {
        let square = |color: [f32; 3]| {
            let corner = |(x, y)| Vertex { position: [x, y, 0.0], color };
            let corners = [(-1.0, -1.0), (1.0, -1.0), (-1.0, 1.0), (1.0, 1.0)].map(corner);
            Mesh::new(device, "square", Primitive::TriangleStrip, &corners)
        };
        let [light, dark] = COLORS;
        let pipeline = Pipeline::new(device, &PipelineDescriptor::new("square", &SHADING, &smooth::FRAGMENT))?;
        Ok(Self { meshes: [square(light)?, square(dark)?], pipeline })
    }

    /// Draws frame number `number`; the squares turn.
    fn draw<P: Platform>(&self, device: &Device<'_, P>, page: &Target, number: u16) -> Result<Fence, Error> {
        let mut frame = device.frame()?;
        let mut pass = frame.pass(&PassDescriptor::to(page).clear(unorm([24, 16, 32, 255])))?;
        let upright = Mat4::from_scale(Vec3::new(1.0 / page.aspect(), 1.0, 1.0));
        let inwards = Mat4::from_rotation_z(TURN) * Mat4::from_scale(Vec3::splat(SHRINK));
        let mut place = upright * Mat4::from_rotation_z(0.02 * f32::from(number)) * Mat4::from_scale(Vec3::splat(1.2));
        for n in 0..SQUARES {
            let mesh = &self.meshes[usize::from(n % 2)];
            pass.draw(&self.pipeline, mesh, &Uniforms { matrix: rows(&place) }, &NoUniforms)?;
            place *= inwards;
        }
        frame.submit()
    }
}

/// A bus with the model behind it: its registers where the V3D's are, its memory at physical addresses, its clock, its reset.
#[derive(Debug)]
pub struct HostBus {
    /// Whose model it is.
    pub model: Model,
    /// Whether slave and master bridge are stopped: 1 if so.
    stopped: [Cell<u32>; 2],
}

impl Bus for HostBus {
    fn load(&self, address: u32) -> u32 {
        let [slave, master] = &self.stopped;
        match address {
            MEMORY..MEMORY_END => self.model.load_word(address - MEMORY),
            V3D..=V3D_LAST => Register::from_offset(address - V3D).map_or(0, |register| self.model.read(register)),
            TIMER_LOW => self.model.now_us() as u32,
            TIMER_HIGH => (self.model.now_us() >> 32) as u32,
            PM_GRAFX => V3DRSTN,
            V3D_SLAVE => slave.get() * 0b11,
            V3D_MASTER => master.get() * 0b11,
            _ => 0,
        }
    }

    fn store(&self, address: u32, word: u32) {
        let [slave, master] = &self.stopped;
        match address {
            MEMORY..MEMORY_END => self.model.store_word(address - MEMORY, word),
            V3D..=V3D_LAST => {
                if let Some(register) = Register::from_offset(address - V3D) {
                    self.model.write(register, word);
                }
            }
            V3D_SLAVE => slave.set(word & 1),
            V3D_MASTER => master.set(word & 1),
            // With transfers under way a reset would take the bus along.
            PM_GRAFX if word & V3DRSTN == 0 && slave.get() & master.get() == 1 => {
                // The model can always be reset.
                let _ = self.model.reset();
            }
            _ => {}
        }
    }
}

/// The last of the V3D's addresses.
const V3D_LAST: u32 = V3D + 0xfff;
/// Where the model's memory is at physical addresses, and where the peripherals begin.
const MEMORY: u32 = 0x0010_0000;
const MEMORY_END: u32 = 0x3f00_0000;

/// The display of the host: it has a page behind the pool.
pub const DISPLAY: Framebuffer = Framebuffer { address: POOL + POOL_BYTES, width_px: 480, height_px: 320 };

/// A board whose bus is the model's.
pub fn host_board() -> Board<HostBus> {
    let bytes = DISPLAY.address + 4 * DISPLAY.width_px * DISPLAY.height_px - MEMORY;
    Board(HostBus { model: Model::new(bytes, Config::default()), stopped: [Cell::new(0), Cell::new(0)] })
}

/// What the display shows.
pub fn shown(board: &Board<HostBus>) -> Picture {
    let Framebuffer { address, width_px, height_px } = DISPLAY;
    let pixel = |n: u32| board.0.load(address + 4 * n).to_le_bytes();
    Picture { width_px, height_px, pixels: (0..width_px * height_px).map(pixel).collect() }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let board = host_board();
    v3d_host::begin(&board.0.model)?;
    kernel_main(&board, DISPLAY, 12)?;
    v3d_host::show_picture(&board.0.model, &shown(&board), "10_own_kernel")?;
    Ok(())
}
