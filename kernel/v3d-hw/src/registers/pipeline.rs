//! Pipeline status, frame counts and binning memory registers [AG p.87-89].

use crate::{BusAddr, layout};

layout! {
    /// Pipeline control and status [AG p.87].
    pub struct Pcs: 32 bits "V3D_PCS" {
        /// The PTB ran out of binning memory. Cleared by a write to BPOS.
        8:8 bmoom: bool,
        /// Rendering operations are in progress.
        3:3 rmbusy: bool,
        /// The rendering pipeline is in use.
        2:2 rmactive: bool,
        /// Binning operations are in progress.
        1:1 bmbusy: bool,
        /// The binning pipeline is in use.
        0:0 bmactive: bool,
    }
}

layout! {
    /// Binning mode flush count [AG p.88].
    ///
    /// The guide shows 8 bits, and silicon has no more. A write of 1 clears the count.
    pub struct Bfc: 32 bits "V3D_BFC" {
        /// Binning flushes completed, modulo 256.
        7:0 bmfct: u8,
    }
}

layout! {
    /// Rendering mode frame count [AG p.88].
    ///
    /// A write of 1 clears the count.
    pub struct Rfc: 32 bits "V3D_RFC" {
        /// Frames completed, modulo 256.
        7:0 rmfct: u8,
    }
}

layout! {
    /// Current address of the binning memory pool [AG p.88].
    pub struct Bpca: 32 bits "V3D_BPCA" {
        /// The next address that the PTB will take.
        31:0 bmpca: BusAddr,
    }
}

layout! {
    /// Remaining size of the binning memory pool [AG p.88].
    pub struct Bpcs: 32 bits "V3D_BPCS" {
        /// Bytes that remain.
        31:0 bmprs: u32,
    }
}

layout! {
    /// Address of the overspill binning memory block [AG p.89].
    pub struct Bpoa: 32 bits "V3D_BPOA" {
        /// Memory the PTB may use once the initial pool is empty.
        31:0 bmpoa: BusAddr,
    }
}

layout! {
    /// Size of the overspill binning memory block [AG p.89].
    ///
    /// The PTB takes the block when the pool is empty and sets this register to 0; while it is 0 an empty pool halts the PTB.
    pub struct Bpos: 32 bits "V3D_BPOS" {
        /// Bytes of overspill memory.
        31:0 bmpos: u32,
    }
}
