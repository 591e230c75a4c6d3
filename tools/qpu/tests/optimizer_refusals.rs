//! Programs that the optimizer does not change, with the reason and the word that it reports.

use qpu::optimize::{Reason, optimize};
use qpu::{Options, Source, assemble};

/// Programs that compute with addresses are not changed.
#[test]
fn computed_branches_are_refused() {
    let refused = |source: &str| {
        let assembly = assemble(&[Source::new("case", source)], &Options::default()).expect("assembles");
        optimize(&assembly).err().map(|refused| (refused.reason, refused.word))
    };
    let call = "brr ra2, r:f\nnop\nnop\nnop\nthrend\nnop\nnop\n";
    assert_eq!(refused(&format!("{call}:f bra -, ra2\nnop\nnop\nnop")), None);
    assert_eq!(
        refused(&format!("{call}:f mov rb2, ra2\nmov r0, rb2\nmov ra4, r0\nnop\nbra -, ra4\nnop\nnop\nnop")),
        None
    );
    assert_eq!(
        refused(&format!("{call}:f add ra2, ra2, 8\nnop\nbra -, ra2\nnop\nnop\nnop")),
        Some((Reason::ComputedTarget, Some(7)))
    );
    assert_eq!(refused("mov ra2, unif\nnop\nbra -, ra2\nnop\nnop\nnop"), Some((Reason::ComputedTarget, Some(0))));
    assert_eq!(refused("ldi r0, :b - :a\n:a nop\n:b thrend\nnop\nnop"), Some((Reason::Addresses, None)));
    assert_eq!(refused("thrend\nnop\nnop\n.int 1, 2"), Some((Reason::Data, Some(3))));
    assert_eq!(refused("nop\nbrr -, 800\nnop\nnop\nnop"), Some((Reason::UnknownTarget, Some(1))));
}
