//! Sentences for the bits of ERRSTAT.
//!
//! ERRSTAT collects errors of the VPM and its neighbours. Its bits stay until a reset, so the driver reports a bit once. CTnCS.CTERR says that a thread
//! met a record that it cannot execute.
//!
//! # Surprises
//! - VCMRE is no sign of an error: boards set it in jobs in NV mode that draw right [bm reports]. Reports have it, statistics do not.
//! - No debug register says that the V3D is busy or hangs: FDBGO, FDBGB and FDBGS are not 0 in boards that are idle and well [bm reports].
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
        (
            vcmre,
            "VCMRE: the vertex cache manager failed while rendering, or vertices in NV mode were drawn, for which boards set it without a failure",
        ),
        (vcde, "VCDE: the vertex DMA's queues are out of step"),
        (vdwe, "VDWE: the VPM's DMA writer left the address range"),
        (vpmeas, "VPMEAS: the VPM was allocated in a size that it does not have"),
        (vpmefna, "VPMEFNA: VPM memory was freed that was not allocated"),
        (vpmewna, "VPMEWNA: a program wrote VPM memory that was not allocated to it"),
        (vpmerna, "VPMERNA: a program read VPM memory that was not allocated to it"),
        (vpmerr, "VPMERR: a program read beyond its part of the VPM; a user program needs VPMBASE to reserve enough"),
        (
            vpmewr,
            "VPMEWR: a program wrote beyond its part of the VPM: a user program, for which VPMBASE has to reserve enough, or a coordinate shader with clip \
             coordinates in a shader record without clipping",
        ),
        (vpaerrgl, "VPAERGL: the renderer asked for more VPM memory than its limit allows; VPACNTL was written with 0, perhaps"),
        (vpaebrgl, "VPAEBGL: the binner asked for more VPM memory than its limit allows"),
        (vpaergs, "VPAERGS: a vertex batch asked for more VPM memory than there is"),
        (vpaeabb, "VPAEABB: VPMBASE was written while the VPM was in use"),
    ]
    .into_iter()
    .filter_map(|(set, sentence)| set.then_some(sentence))
}

/// The bits of ERRSTAT that are errors for certain.
pub fn errors(word: u32) -> Errstat {
    Errstat { vcdi: false, vcmre: false, ..Errstat::from_word(word) }
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

    /// 0x1000 or 0x3000 in boards that are idle after jobs that drew right [bm reports].
    #[test]
    fn what_healthy_boards_show_is_no_error() {
        assert_eq!(errors(0x1000), Errstat::default());
        assert_eq!(errors(0x3000), Errstat::default());
        assert_eq!(errors(0x3010), Errstat { vpmewr: true, ..Errstat::default() });
    }
}
