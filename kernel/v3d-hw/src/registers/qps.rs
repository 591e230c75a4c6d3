//! QPU scheduler registers [AG p.89-91].

use crate::{BusAddr, layout};

layout! {
    /// Reservations of QPUs 0 to 7 [AG p.89].
    pub struct Sqrsv0: 32 bits "V3D_SQRSV0" {
        /// QPU 7: bit 0 no user programs, 1 no fragment, 2 no vertex, 3 no coordinate shaders.
        31:28 qpursv7: u8,
        /// QPU 6: bit 0 no user programs, 1 no fragment, 2 no vertex, 3 no coordinate shaders.
        27:24 qpursv6: u8,
        /// QPU 5: bit 0 no user programs, 1 no fragment, 2 no vertex, 3 no coordinate shaders.
        23:20 qpursv5: u8,
        /// QPU 4: bit 0 no user programs, 1 no fragment, 2 no vertex, 3 no coordinate shaders.
        19:16 qpursv4: u8,
        /// QPU 3: bit 0 no user programs, 1 no fragment, 2 no vertex, 3 no coordinate shaders.
        15:12 qpursv3: u8,
        /// QPU 2: bit 0 no user programs, 1 no fragment, 2 no vertex, 3 no coordinate shaders.
        11:8 qpursv2: u8,
        /// QPU 1: bit 0 no user programs, 1 no fragment, 2 no vertex, 3 no coordinate shaders.
        7:4 qpursv1: u8,
        /// QPU 0: bit 0 no user programs, 1 no fragment, 2 no vertex, 3 no coordinate shaders.
        3:0 qpursv0: u8,
    }
}

layout! {
    /// Reservations of QPUs 8 to 15 [AG p.90].
    pub struct Sqrsv1: 32 bits "V3D_SQRSV1" {
        /// QPU 15: bit 0 no user programs, 1 no fragment, 2 no vertex, 3 no coordinate shaders.
        31:28 qpursv15: u8,
        /// QPU 14: bit 0 no user programs, 1 no fragment, 2 no vertex, 3 no coordinate shaders.
        27:24 qpursv14: u8,
        /// QPU 13: bit 0 no user programs, 1 no fragment, 2 no vertex, 3 no coordinate shaders.
        23:20 qpursv13: u8,
        /// QPU 12: bit 0 no user programs, 1 no fragment, 2 no vertex, 3 no coordinate shaders.
        19:16 qpursv12: u8,
        /// QPU 11: bit 0 no user programs, 1 no fragment, 2 no vertex, 3 no coordinate shaders.
        15:12 qpursv11: u8,
        /// QPU 10: bit 0 no user programs, 1 no fragment, 2 no vertex, 3 no coordinate shaders.
        11:8 qpursv10: u8,
        /// QPU 9: bit 0 no user programs, 1 no fragment, 2 no vertex, 3 no coordinate shaders.
        7:4 qpursv9: u8,
        /// QPU 8: bit 0 no user programs, 1 no fragment, 2 no vertex, 3 no coordinate shaders.
        3:0 qpursv8: u8,
    }
}

layout! {
    /// QPU scheduler control [AG p.90].
    pub struct Sqcntl: 32 bits "V3D_SQCNTL" {
        /// Coordinate shader scheduling bypass limit, as VSRBL.
        3:2 csrbl: u8,
        /// Vertex shader scheduling bypass limit: a threaded shader may pass a waiting vertex shader 2^VSRBL times.
        1:0 vsrbl: u8,
    }
}

layout! {
    /// User program request: program address [AG p.90].
    ///
    /// Write only. A write queues a request; the queue is 16 deep.
    pub struct Srqpc: 32 bits "V3D_SRQPC" {
        /// Address of the first instruction.
        31:0 qpurqpc: BusAddr,
    }
}

layout! {
    /// User program request: uniforms address [AG p.91].
    pub struct Srqua: 32 bits "V3D_SRQUA" {
        /// Uniforms of the next request; 0 disables the stream.
        31:0 qpurqua: BusAddr,
    }
}

layout! {
    /// User program request: uniforms length [AG p.91].
    pub struct Srqul: 32 bits "V3D_SRQUL" {
        /// Words of uniforms at most; 0 disables the stream, above 1023 there is no limit.
        11:0 qpurqul: u16,
    }
}

layout! {
    /// User program request: control and status [AG p.91].
    ///
    /// Writing 1 to bit 16, 8, 7 or 0 clears the completed count, the request count, the error, or the queue.
    pub struct Srqcs: 32 bits "V3D_SRQCS" {
        /// User programs completed, modulo 256.
        23:16 qpurqcc: u8,
        /// Requests made, modulo 256; counted even if refused.
        15:8 qpurqcm: u8,
        /// A request was made while the queue was full.
        7:7 qpurqerr: bool,
        /// Requests queued now.
        5:0 qpurql: u8,
    }
}
