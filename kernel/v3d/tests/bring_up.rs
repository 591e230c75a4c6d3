//! Bringing up a V3D that the firmware has left in some state, on the model.

use v3d::hw::registers::Register;
use v3d::platform::RegisterAccess;
use v3d::register_snapshot::RegisterSnapshot;
use v3d::{Driver, Limits};
use v3d_host::Model;
use v3d_sim::Config;

#[test]
fn what_the_firmware_left_is_put_right() {
    let model = Model::new(4 << 20, Config::default());
    // QPUs reserved, interrupts on, overflow memory named.
    for (register, value) in [
        (Register::SQRSV0, 0x1111_1111),
        (Register::SQRSV1, 0x0000_1111),
        (Register::INTENA, 0xf),
        (Register::BPOA, 0xc010_0000),
        (Register::BPOS, 0x1000),
    ] {
        model.write(register, value);
    }
    let driver = Driver::bring_up(&model, &model.interrupts, Limits::default()).unwrap();
    let identity = driver.identity();
    assert_eq!((identity.slices, identity.qpus, identity.tmus, identity.vpm_bytes), (3, 12, 6, 12 * 1024));
    for (register, value) in [
        (Register::SQRSV0, 0),
        (Register::SQRSV1, 0),
        // Nobody asked for interrupts.
        (Register::INTENA, 0),
        (Register::INTCTL, 0),
        (Register::BPOA, 0),
        (Register::BPOS, 0),
        // 4 KiB for user programs
        (Register::VPMBASE, 16),
        (Register::CT0CS, 0),
        (Register::CT1CS, 0),
    ] {
        assert_eq!(model.read(register), value, "{register}");
    }
    assert_eq!(model.take_faults(), []);
}

/// Every register that can be read is in a snapshot, by name and with its fields.
#[test]
fn a_snapshot_tells_every_register() {
    let model = Model::new(4 << 20, Config::default());
    let text = RegisterSnapshot::take(&model).to_string();
    for register in Register::ALL {
        let line = text.lines().find(|line| line.split(' ').next() == Some(register.name()));
        match register.access() {
            v3d::hw::registers::Access::WriteOnly => assert_eq!(line, None),
            _ => {
                let line = line.unwrap_or_else(|| panic!("{register} is missing"));
                assert!(register.fields().iter().all(|field| line.contains(field.name)), "{line}");
            }
        }
    }
}
