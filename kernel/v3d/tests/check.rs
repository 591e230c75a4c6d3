//! The check of a port: on a model that is right, and on platforms that are wrong in one way each.

use std::cell::Cell;
use std::fmt::Write;
use std::path::Path;

use v3d::check::Step;
use v3d::hw::BusAddr;
use v3d::hw::registers::Register;
use v3d::platform::{GpuMemory, Power, PowerError, RegisterAccess, Time};
use v3d::{Driver, Interrupts, Limits};
use v3d_host::Model;
use v3d_sim::Config;

#[test]
fn a_v3d_that_is_right_passes_every_step() {
    let model = Model::new(8 << 20, Config::default());
    let mut driver = Driver::bring_up(&model, &model.interrupts, Limits::default()).unwrap();
    let used_before = driver.pool_use().0;
    let steps = driver.check();
    assert_eq!(steps.len(), 8);
    for Step { what, verdict } in &steps {
        assert!(verdict.is_ok(), "{what}: {verdict:?}");
    }
    assert_eq!(model.take_faults(), []);
    assert_eq!(driver.pool_use().0, used_before, "all memory is given back");
}

/// What is wrong with a platform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mistake {
    /// What the CPU stores into memory stays in its cache.
    StoresStay,
    /// What the CPU loads was in its cache before the GPU wrote it.
    LoadsAreOld,
    /// The pool is at another address of the bus than it says.
    WrongAddress,
}

/// A model behind a platform with a mistake, which begins when the driver has been brought up.
struct Wrong {
    model: Model,
    mistake: Mistake,
    begun: Cell<bool>,
    interrupts: Interrupts,
}

impl Wrong {
    fn makes(&self, mistake: Mistake) -> bool {
        self.begun.get() && self.mistake == mistake
    }
}

impl RegisterAccess for Wrong {
    fn read(&self, register: Register) -> u32 {
        self.model.read(register)
    }

    fn write(&self, register: Register, value: u32) {
        self.model.write(register, value);
    }
}

impl GpuMemory for Wrong {
    fn base(&self) -> BusAddr {
        if self.mistake == Mistake::WrongAddress { self.model.base() + 0x10_0000 } else { self.model.base() }
    }

    fn bytes(&self) -> u32 {
        self.model.bytes()
    }

    fn store(&self, offset: u32, bytes: &[u8]) {
        if !self.makes(Mistake::StoresStay) {
            self.model.store(offset, bytes);
        }
    }

    fn load(&self, offset: u32, bytes: &mut [u8]) {
        if self.makes(Mistake::LoadsAreOld) {
            bytes.fill(0xa5);
        } else {
            self.model.load(offset, bytes);
        }
    }
}

impl Time for Wrong {
    fn now_us(&self) -> u64 {
        self.model.now_us()
    }

    fn wait_until(&self, deadline_us: u64) {
        self.model.wait_until(deadline_us);
    }
}

impl Power for Wrong {
    fn reset(&self) -> Result<(), PowerError> {
        self.model.reset()
    }
}

/// The first step that fails with a mistake.
fn first_failure(mistake: Mistake) -> &'static str {
    let wrong = Wrong {
        model: Model::new(8 << 20, Config::default()),
        mistake,
        begun: Cell::new(false),
        interrupts: Interrupts::new(),
    };
    let mut driver = Driver::bring_up(&wrong, &wrong.interrupts, Limits::default()).unwrap();
    wrong.begun.set(true);
    let steps = driver.check();
    steps.iter().find(|step| step.verdict.is_err()).map_or("none", |step| step.what)
}

#[test]
fn a_mistake_of_the_platform_fails_a_step() {
    let list = "an empty list in each thread";
    let tile = "one tile that is cleared and stored to memory";
    for (mistake, what) in [(Mistake::LoadsAreOld, tile), (Mistake::StoresStay, list), (Mistake::WrongAddress, list)] {
        assert_eq!(first_failure(mistake), what, "{mistake:?}");
    }
}

#[test]
fn the_words_of_the_programs_are_those_of_their_sources() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/check");
    let mut made = String::from(
        "//! The words of the two programs that the check runs; their sources are in the folder.\n//!\n\
         //! `UPDATE_WORDS=1 cargo test -p v3d --test check` writes this file anew.\n",
    );
    for (name, file) in [("ONE_COLOR", "one_color.frag.qasm"), ("ELEMENTS", "elements.user.qasm")] {
        let source = qpu::Source::read(folder.join(file)).unwrap();
        let assembly = qpu::assemble(&[source], &qpu::Options::default()).unwrap();
        assert!(!qpu::check::check_assembly(&assembly).has_errors(), "{file}");
        writeln!(made, "\n/// `{file}`.\npub(super) const {name}: &[u64] = &[").unwrap();
        for word in &assembly.words {
            let quarter = |number: u32| word >> (16 * number) & 0xffff;
            let [a, b, c, d] = [3, 2, 1, 0].map(quarter);
            writeln!(made, "    0x{a:04x}_{b:04x}_{c:04x}_{d:04x},").unwrap();
        }
        made += "];\n";
    }
    let path = folder.join("programs.rs");
    if std::env::var_os("UPDATE_WORDS").is_some() {
        std::fs::write(&path, &made).unwrap();
    }
    assert_eq!(std::fs::read_to_string(&path).unwrap(), made, "UPDATE_WORDS=1 writes it");
}
