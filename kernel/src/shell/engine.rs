//! Commands about the 3D engine: v3d, regs, stats

use v3d::{
    hw::registers::{Access, Register},
    platform::RegisterAccess,
};

use super::run::Answer;
use crate::{bcm2837::interrupt_controller, machine::Machine, println, v3d_platform};

pub(super) fn identity(machine: &Machine) -> Answer {
    let gpu = machine.gpu()?;
    println!("{}", gpu.identity);
    let way = if gpu.platform.is_polling() { "by looking" } else { "by interrupt" };
    println!(
        "the end of jobs is awaited {way}; {} interrupts so far",
        interrupt_controller::count(v3d_platform::INTERRUPT_LINE)
    );
    Ok(())
}

pub(super) fn registers(machine: &Machine) -> Answer {
    let gpu = machine.gpu()?;
    for &register in Register::ALL {
        if register.access() == Access::WriteOnly {
            continue;
        }
        let value = gpu.platform.read(register);
        println!("{:8} {value:08x} {}", register.name(), register.explain(value));
    }
    Ok(())
}

pub(super) fn stats(machine: &Machine) -> Answer {
    let gpu = machine.gpu()?;
    println!("interrupts    {}", interrupt_controller::count(v3d_platform::INTERRUPT_LINE));
    println!("completion    {}", if gpu.platform.is_polling() { "polling" } else { "interrupt" });
    Ok(())
}
