//! Tests against a model of controller and card

use super::{
    model::{Faults, Kind, Model},
    *,
};

fn slot(model: &Model) -> SdSlot<&Model> {
    SdSlot::new(model)
}

#[test]
fn cards_of_all_kinds_are_identified() {
    for kind in [Kind::HighCapacity, Kind::Standard, Kind::Version1] {
        let model = Model::new(kind);
        let card = slot(&model).card().unwrap_or_else(|error| panic!("{kind:?}: {error}"));
        assert_eq!((card.blocks, card.is_write_protected), (4096, false), "{kind:?}");
        assert_eq!(card.is_addressed_by_blocks, kind == Kind::HighCapacity);
        assert_eq!(model.clock_hz(), Some(FAST_HZ));
        assert!(model.has_four_lines());
    }
}

#[test]
fn clocks_are_no_faster_than_asked() {
    for base_hz in [25_000_000, 41_666_666, 50_000_000, 200_000_000, 250_000_000] {
        for hz in [SLOW_HZ, FAST_HZ] {
            let divider = divider(base_hz, hz);
            let clock_hz = if divider == 0 { base_hz } else { base_hz / (2 * divider) };
            assert!(clock_hz <= hz && 2 * clock_hz > hz, "{base_hz} / {divider} = {clock_hz}");
        }
    }
    assert_eq!((divider(250_000_000, FAST_HZ), divider(250_000_000, SLOW_HZ), divider(50, 50)), (5, 313, 0));
    // 313 is 0b01_0011_1001: the lower eight bits are at 15:8, the others at 7:6 [SDHCI 2.2.14].
    assert_eq!(control1::divider(313), 0x3940);
}

#[test]
fn what_is_written_is_read() {
    for kind in [Kind::HighCapacity, Kind::Standard] {
        let model = Model::new(kind);
        let mut slot = slot(&model);
        for (first, count) in [(0, 1), (17, 2), (100, 300), (4095, 1)] {
            let bytes: Vec<u8> = (0..count * BLOCK_BYTES).map(|n| (n * 31 + n / 512) as u8).collect();
            slot.write(first, &bytes).unwrap();
            assert_eq!(model.blocks.borrow()[first as usize..][..count].concat(), bytes, "{kind:?} {first}");
            let mut read = vec![0; bytes.len() + 7];
            slot.read(first, &mut read).unwrap();
            assert_eq!(read, [bytes, vec![0; 7]].concat(), "{kind:?} {first}");
        }
        // Blocks in between are untouched.
        assert_eq!(model.blocks.borrow()[19][..3], [133, 134, 135]);
        let error = slot.read(4095, &mut [0; 1024]).unwrap_err();
        assert_eq!(error, CardError::OutOfRange { first: 4095, count: 2, blocks: 4096 });
        assert_eq!(slot.write(u32::MAX, &[0; 512]).unwrap_err().to_string().matches("4096 blocks").count(), 1);
        slot.read(5, &mut [0; 3]).unwrap();
    }
}

#[test]
fn what_is_no_card_is_said() {
    let check = |kind, faults: Faults, expected: CardError| {
        let model = Model::with(kind, faults);
        assert_eq!(slot(&model).card(), Err(expected), "{kind:?} {faults:?}");
    };
    let right = Faults::default();
    check(Kind::Nothing, right, CardError::NoCard);
    check(Kind::Mmc, right, CardError::NotSd);
    check(Kind::HighCapacity, Faults { other_voltage: true, ..right }, CardError::Voltage);
    check(Kind::HighCapacity, Faults { never_ready: true, ..right }, CardError::NotReady);
    check(Kind::HighCapacity, Faults { reset_hangs: true, ..right }, CardError::Controller("does not end its reset"));
    check(Kind::HighCapacity, Faults { clock_unstable: true, ..right }, CardError::Controller("has no stable clock"));
}

#[test]
fn a_protected_card_is_read_and_not_written() {
    let model = Model::with(Kind::HighCapacity, Faults { protected: true, ..Faults::default() });
    let mut slot = slot(&model);
    assert!(slot.card().unwrap().is_write_protected);
    slot.read(3, &mut [0; 512]).unwrap();
    assert_eq!(slot.write(3, &[9; 512]), Err(CardError::WriteProtected));
    assert!(!model.sent().contains(&24), "the card was asked to write");

    // A card that says so only when it is written.
    let model = Model::with(Kind::Standard, Faults { protected_from: Some(10), ..Faults::default() });
    let mut slot = SdSlot::new(&model);
    slot.write(9, &[1; 512]).unwrap();
    assert_eq!(slot.write(10, &[1; 512]), Err(CardError::WriteProtected));
    slot.write(8, &[1; 512]).unwrap();
}

#[test]
fn damaged_blocks_are_transferred_again() {
    let model = Model::with(Kind::HighCapacity, Faults { damaged_blocks: 2, ..Faults::default() });
    let mut slot = slot(&model);
    let mut bytes = [0; 1024];
    slot.read(7, &mut bytes).unwrap();
    assert_eq!(bytes[..], model.blocks.borrow()[7..9].concat());
    // The transfers that failed were stopped.
    assert_eq!(model.sent().iter().filter(|&&command| command == 12).count(), 2);

    model.faults.set(Faults { damaged_blocks: 3, ..Faults::default() });
    assert_eq!(slot.read(7, &mut bytes), Err(CardError::Damaged { command: 18, errors: 0x20 }));
    slot.read(7, &mut bytes).unwrap();
}

#[test]
fn nothing_is_waited_for_without_a_limit() {
    for (faults, error) in [
        (Faults { no_data: true, ..Faults::default() }, CardError::Unfinished { command: 17 }),
        (Faults { stays_busy: true, ..Faults::default() }, CardError::Controller("stays busy")),
    ] {
        let model = Model::new(Kind::HighCapacity);
        let mut slot = slot(&model);
        slot.card().unwrap();
        model.faults.set(faults);
        let start_us = (&model).now_us();
        let first = slot.write(1, &[0; 512]);
        let second = slot.read(1, &mut [0; 512]);
        assert!(first == Err(error) || second == Err(error), "{first:?} {second:?}");
        assert!((&model).now_us() - start_us < 10_000_000);
    }
}

#[test]
fn a_card_that_is_removed_and_put_back_is_identified_again() {
    let model = Model::new(Kind::HighCapacity);
    let mut slot = slot(&model);
    slot.read(0, &mut [0; 512]).unwrap();
    model.kind.set(Kind::Nothing);
    assert_eq!(slot.read(0, &mut [0; 512]), Err(CardError::NoAnswer { command: 17 }));
    assert_eq!(slot.read(0, &mut [0; 512]), Err(CardError::NoCard));
    assert_eq!(slot.card(), Err(CardError::NoCard));
    model.kind.set(Kind::Standard);
    assert!(!slot.card().unwrap().is_addressed_by_blocks);
    slot.read(0, &mut [0; 512]).unwrap();
}

/// A card is pulled out after each command of a whole session: there is an error, and no panic.
#[test]
fn a_card_may_be_removed_at_any_time() {
    for commands in 0..20 {
        let faults = Faults { commands_until_removal: Some(commands), ..Faults::default() };
        let model = Model::with(Kind::HighCapacity, faults);
        let mut slot = slot(&model);
        let result = slot.write(1, &[3; 2048]).and_then(|()| slot.read(1, &mut [0; 512]));
        assert!(result.is_ok() || commands < 19, "{commands}: {result:?}");
        assert!(result.is_err() || commands > 8, "{commands}");
    }
}

#[test]
fn errors_are_sentences() {
    let sentence = CardError::Damaged { command: 18, errors: 0x20 }.to_string();
    assert_eq!(sentence, "what the SD card sent was damaged on the way (CMD18, error bits 0x0020)");
    let sentence = CardError::Refused { command: 24, status: 0x8000_0900 }.to_string();
    assert_eq!(sentence, "the SD card has refused CMD24 (its status is 0x80000900)");
}
