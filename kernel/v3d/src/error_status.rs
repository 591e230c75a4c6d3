//! Sentences for the bits of ERRSTAT.
//!
//! ERRSTAT collects errors of the VPM and its neighbours. Its bits stay until a reset, so the driver reports a bit once. CTnCS.CTERR says that a thread
//! met a record that it cannot execute.
//!
//! # Sources
//! [AG p.100], [asurati] and [aros] for what raises some of them in practice.

use v3d_hw::Layout;
use v3d_hw::registers::diagnostic::Errstat;

/// A sentence for each error that is set. VCDI (idle) is no error and has none.
pub fn sentences(status: Errstat) -> impl Iterator<Item = &'static str> {
    let Errstat {
        l2care,
        vcmbe,
        vcmre,
        vcdi: _,
        vcde,
        vdwe,
        vpmeas,
        vpmefna,
        vpmewna,
        vpmerna,
        vpmerr,
        vpmewr,
        vpaerrgl,
        vpaebrgl,
        vpaergs,
        vpaeabb,
    } = status;
    [
        (l2care, "L2CARE: the L2 cache received more data from the bus than it had room for"),
        (vcmbe, "VCMBE: the vertex cache manager failed while binning"),
        (vcmre, "VCMRE: the vertex cache manager failed while rendering"),
        (vcde, "VCDE: the vertex DMA's queues are out of step"),
        (vdwe, "VDWE: the VPM's DMA writer left the address range"),
        (vpmeas, "VPMEAS: the VPM was allocated in a size that it does not have"),
        (vpmefna, "VPMEFNA: VPM memory was freed that was not allocated"),
        (vpmewna, "VPMEWNA: a program wrote VPM memory that was not allocated to it"),
        (vpmerna, "VPMERNA: a program read VPM memory that was not allocated to it"),
        (vpmerr, "VPMERR: a program read beyond its part of the VPM; a user program needs VPMBASE to reserve enough"),
        (vpmewr, "VPMEWR: a program wrote beyond its part of the VPM; a user program needs VPMBASE to reserve enough"),
        (vpaerrgl, "VPAERGL: the renderer asked for more VPM memory than its limit allows; VPACNTL was written with 0, perhaps"),
        (vpaebrgl, "VPAEBGL: the binner asked for more VPM memory than its limit allows"),
        (vpaergs, "VPAERGS: a vertex batch asked for more VPM memory than there is"),
        (vpaeabb, "VPAEABB: VPMBASE was written while the VPM was in use"),
    ]
    .into_iter()
    .filter_map(|(set, sentence)| set.then_some(sentence))
}

/// The bits of ERRSTAT that are errors.
pub fn errors(word: u32) -> Errstat {
    Errstat { vcdi: false, ..Errstat::from_word(word) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    /// Every field of ERRSTAT but VCDI has one sentence, which begins with the field's name as the guide's text has it.
    #[test]
    fn every_error_bit_has_a_sentence() {
        for field in Errstat::FIELDS {
            let found: Vec<_> = sentences(Errstat::from_word(1 << field.lo)).collect();
            assert_eq!(found.len(), usize::from(field.name != "vcdi"), "{}", field.name);
        }
        assert_eq!(sentences(Errstat::from_word(u32::MAX)).count(), Errstat::FIELDS.len() - 1);
    }
}
