//! Features that do not exist here: registers, modifiers and types of images.

use crate::table::{Document, Row};

const NO_CLOCK: &str =
    "no register of a QPU counts time; the performance counters are registers of the V3D's, which the host reads";
const NO_COUNTER: &str = "performance counters (PCTR0 to PCTR15) are registers of the V3D's, which the host reads: a QPU has no access to them";
const UNKNOWN: &str =
    "the document does not say what it holds, and no register of a QPU is without a meaning of its own";

const TWO_DIMENSIONS: &str = "a TMU has textures of two dimensions and cube maps, without layers [AG p.40-44]";
const NO_FAILURE: &str =
    "lookups do not fail and report nothing: there are no images of which only parts are in memory";
const NO_CACHE_BITS: &str = "a lookup has no bits for caches; the host clears those of the TMUs (SLCACTL) and the L2 cache (L2CACTL) before a job";

/// Names and reasons, by document.
const ABSENT: [(Document, &[(&str, &str)]); 3] = [
    (
        Document::Instructions,
        &[
            ("modifier live", "lookups are performed for all 16 elements, as with `all`, inactive ones included"),
            (
                "modifier [deriv]",
                "there is no switch: levels of detail are computed from the quad's coordinates in every program, in the model",
            ),
            ("texture arguments z and array index", TWO_DIMENSIONS),
        ],
    ),
    (
        Document::Images,
        &[
            (
                "modifier DMASK",
                "all channels are written, to ra16 to ra19; a gather's channel is taken by image_channel_red and its like",
            ),
            ("modifier UNRM", "s and t are from 0 to 1 across the image; loads and stores take x and y in texels"),
            ("modifier DA", TWO_DIMENSIONS),
            (
                "modifier R128",
                "a resource is three uniforms, and two or three texture parameters for each lookup, whatever its type",
            ),
            ("modifier TFE", NO_FAILURE),
            ("modifier LWE", NO_FAILURE),
            ("modifier GLC", NO_CACHE_BITS),
            ("modifier SLC", NO_CACHE_BITS),
            ("modifier D16", "channels are floats of 32 bits; writes to file A pack to 16 bits (`.16a`, `.16b`)"),
            ("coordinates of 3D images", TWO_DIMENSIONS),
            ("coordinates of image arrays", TWO_DIMENSIONS),
            (
                "coordinates of cube maps",
                "the TMU supports them (t0r), but no macro here does: a program writes t0r, t0t and t0s itself",
            ),
            (
                "coordinates of multisampled images",
                "a TMU reads one sample for each texel; multisampled tiles are resolved when they are stored",
            ),
        ],
    ),
    (
        Document::Interpolation,
        &[
            (
                "layout of parameters in LDS",
                "parameters are not in memory: each read of a varying returns the next one, in the order of the vertex shader's writes",
            ),
            (
                "NewPrimMask",
                "each read of a varying returns the values at the elements' pixels: the program does not see where a primitive begins",
            ),
        ],
    ),
];

/// The rows of this topic.
pub(crate) fn rows() -> Vec<Row> {
    let absent = |operation: &str, reason| Row::absent(Document::Instructions, operation, reason);
    let mut rows = vec![absent("mov clock", NO_CLOCK), absent("mov sreg2", UNKNOWN), absent("mov sreg3", UNKNOWN)];
    rows.extend((0..4).map(|n| absent(&format!("mov pm{n}"), NO_COUNTER)));
    for (document, table) in ABSENT {
        rows.extend(table.iter().map(|&(operation, reason)| Row::absent(document, operation, reason)));
    }
    rows
}
