//! Error and diagnostic registers of the pipeline [AG p.100-104].
//!
//! Most bits are signals inside the hardware of which the guide gives nothing but the name; they are here so that a
//! hang report can print them all by name. ERRSTAT is the one that software acts on.

use crate::layout;

layout! {
    /// Miscellaneous error signals of VPM, VDW, VCD, VCM and L2C [AG p.100].
    pub struct Errstat: 32 bits "V3D_ERRSTAT" {
        /// L2C AXI receive FIFO overrun.
        15:15 l2care: bool,
        /// VCM error (binner).
        14:14 vcmbe: bool,
        /// VCM error (renderer).
        13:13 vcmre: bool,
        /// VCD idle; not an error, set while the VCD has nothing to do.
        12:12 vcdi: bool,
        /// VCD error: FIFO pointers out of sync.
        11:11 vcde: bool,
        /// VDW error: address overflows.
        10:10 vdwe: bool,
        /// VPM error: allocated size error.
        9:9 vpmeas: bool,
        /// VPM error: free of what was not allocated.
        8:8 vpmefna: bool,
        /// VPM error: write to what was not allocated.
        7:7 vpmewna: bool,
        /// VPM error: read from what was not allocated.
        6:6 vpmerna: bool,
        /// VPM error: read out of range.
        5:5 vpmerr: bool,
        /// VPM error: write out of range.
        4:4 vpmewr: bool,
        /// VPM allocator error: renderer request greater than its limit.
        3:3 vpaerrgl: bool,
        /// VPM allocator error: binner request greater than its limit.
        2:2 vpaebrgl: bool,
        /// VPM allocator error: request too big.
        1:1 vpaergs: bool,
        /// VPM allocator error: base allocated while busy.
        0:0 vpaeabb: bool,
    }
}

layout! {
    /// PSE error signals [AG p.100].
    pub struct Dbge: 32 bits "V3D_DBGE" {
        /// `IPD2_FPDUSED`; the guide gives only its name.
        20:20 ipd2_fpdused: bool,
        /// `IPD2_VALID`; the guide gives only its name.
        19:19 ipd2_valid: bool,
        /// `MULIP2`; the guide gives only its name.
        18:18 mulip2: bool,
        /// `MULIP1`; the guide gives only its name.
        17:17 mulip1: bool,
        /// `MULIP0`; the guide gives only its name.
        16:16 mulip0: bool,
        /// Error B when reading the VPM.
        2:2 vr1_b: bool,
        /// Error A when reading the VPM.
        1:1 vr1_a: bool,
    }
}

layout! {
    /// FEP overrun error signals [AG p.101].
    pub struct Fdbgo: 32 bits "V3D_FDBGO" {
        /// `EZREQ_FIFO_ORUN`; the guide gives only its name.
        17:17 ezreq_fifo_orun: bool,
        /// `EZVAL_FIFO_ORUN`; the guide gives only its name.
        15:15 ezval_fifo_orun: bool,
        /// `DEPTHO_ORUN`; the guide gives only its name.
        14:14 deptho_orun: bool,
        /// `DEPTHO_FIFO_ORUN`; the guide gives only its name.
        13:13 deptho_fifo_orun: bool,
        /// `REFXY_FIFO_ORUN`; the guide gives only its name.
        12:12 refxy_fifo_orun: bool,
        /// Not an error.
        11:11 zcoeff_fifo_full: bool,
        /// `XYRELW_FIFO_ORUN`; the guide gives only its name.
        10:10 xyrelw_fifo_orun: bool,
        /// `XYRELO_FIFO_ORUN`; the guide gives only its name.
        7:7 xyrelo_fifo_orun: bool,
        /// `FIXZ_ORUN`; the guide gives only its name.
        6:6 fixz_orun: bool,
        /// `XYFO_FIFO_ORUN`; the guide gives only its name.
        5:5 xyfo_fifo_orun: bool,
        /// `QBSZ_FIFO_ORUN`; the guide gives only its name.
        4:4 qbsz_fifo_orun: bool,
        /// `QBFR_FIFO_ORUN`; the guide gives only its name.
        3:3 qbfr_fifo_orun: bool,
        /// Not an error.
        2:2 xyrelz_fifo_full: bool,
        /// Not an error.
        1:1 wcoeff_fifo_full: bool,
    }
}

layout! {
    /// FEP interface ready and stall signals, and FEP busy signals [AG p.101].
    pub struct Fdbgb: 32 bits "V3D_FDBGB" {
        /// `XYFO_FIFO_OP_READY`; the guide gives only its name.
        28:28 xyfo_fifo_op_ready: bool,
        /// `QXYF_FIFO_OP_READY`; the guide gives only its name.
        27:27 qxyf_fifo_op_ready: bool,
        /// `RAST_BUSY`; the guide gives only its name.
        26:26 rast_busy: bool,
        /// `EZ_XY_READY`; the guide gives only its name.
        25:25 ez_xy_ready: bool,
        /// `EZ_DATA_READY`; the guide gives only its name.
        23:23 ez_data_ready: bool,
        /// `ZRWPE_READY`; the guide gives only its name.
        7:7 zrwpe_ready: bool,
        /// `ZRWPE_STALL`; the guide gives only its name.
        6:6 zrwpe_stall: bool,
        /// `EDGES_CTRLID`; the guide gives only its name.
        5:3 edges_ctrlid: u8,
        /// `EDGES_ISCTRL`; the guide gives only its name.
        2:2 edges_isctrl: bool,
        /// `EDGES_READY`; the guide gives only its name.
        1:1 edges_ready: bool,
        /// `EDGES_STALL`; the guide gives only its name.
        0:0 edges_stall: bool,
    }
}

layout! {
    /// FEP internal ready signals [AG p.102].
    pub struct Fdbgr: 32 bits "V3D_FDBGR" {
        /// `FIXZ_READY`; the guide gives only its name.
        30:30 fixz_ready: bool,
        /// `RECIPW_READY`; the guide gives only its name.
        28:28 recipw_ready: bool,
        /// `INTERPRW_READY`; the guide gives only its name.
        27:27 interprw_ready: bool,
        /// `INTERPZ_READY`; the guide gives only its name.
        24:24 interpz_ready: bool,
        /// `XYRELZ_FIFO_LAST`; the guide gives only its name.
        23:23 xyrelz_fifo_last: bool,
        /// `XYRELZ_FIFO_READY`; the guide gives only its name.
        22:22 xyrelz_fifo_ready: bool,
        /// `XYNRM_LAST`; the guide gives only its name.
        21:21 xynrm_last: bool,
        /// `XYNRM_READY`; the guide gives only its name.
        20:20 xynrm_ready: bool,
        /// `EZLIM_READY`; the guide gives only its name.
        19:19 ezlim_ready: bool,
        /// `DEPTHO_READY`; the guide gives only its name.
        18:18 deptho_ready: bool,
        /// `RAST_LAST`; the guide gives only its name.
        17:17 rast_last: bool,
        /// `RAST_READY`; the guide gives only its name.
        16:16 rast_ready: bool,
        /// `XYFO_FIFO_READY`; the guide gives only its name.
        14:14 xyfo_fifo_ready: bool,
        /// `ZO_FIFO_READY`; the guide gives only its name.
        13:13 zo_fifo_ready: bool,
        /// `XYRELO_FIFO_READY`; the guide gives only its name.
        11:11 xyrelo_fifo_ready: bool,
        /// `WCOEFF_FIFO_READY`; the guide gives only its name.
        7:7 wcoeff_fifo_ready: bool,
        /// `XYRELW_FIFO_READY`; the guide gives only its name.
        6:6 xyrelw_fifo_ready: bool,
        /// `ZCOEFF_FIFO_READY`; the guide gives only its name.
        5:5 zcoeff_fifo_ready: bool,
        /// `REFXY_FIFO_READY`; the guide gives only its name.
        4:4 refxy_fifo_ready: bool,
        /// `DEPTHO_FIFO_READY`; the guide gives only its name.
        3:3 deptho_fifo_ready: bool,
        /// `EZVAL_FIFO_READY`; the guide gives only its name.
        2:2 ezval_fifo_ready: bool,
        /// `EZREQ_FIFO_READY`; the guide gives only its name.
        1:1 ezreq_fifo_ready: bool,
        /// `QXYF_FIFO_READY`; the guide gives only its name.
        0:0 qxyf_fifo_ready: bool,
    }
}

layout! {
    /// FEP internal stall input signals [AG p.103].
    pub struct Fdbgs: 32 bits "V3D_FDBGS" {
        /// `ZO_FIFO_IP_STALL`; the guide gives only its name.
        28:28 zo_fifo_ip_stall: bool,
        /// `RECIPW_IP_STALL`; the guide gives only its name.
        25:25 recipw_ip_stall: bool,
        /// `INTERPW_IP_STALL`; the guide gives only its name.
        22:22 interpw_ip_stall: bool,
        /// `XYRELZ_FIFO_IP_STALL`; the guide gives only its name.
        18:18 xyrelz_fifo_ip_stall: bool,
        /// `INTERPZ_IP_STALL`; the guide gives only its name.
        17:17 interpz_ip_stall: bool,
        /// `DEPTHO_FIFO_IP_STALL`; the guide gives only its name.
        16:16 deptho_fifo_ip_stall: bool,
        /// `EZLIM_IP_STALL`; the guide gives only its name.
        15:15 ezlim_ip_stall: bool,
        /// `XYNRM_IP_STALL`; the guide gives only its name.
        14:14 xynrm_ip_stall: bool,
        /// `EZREQ_FIFO_OP_VALID`; the guide gives only its name.
        13:13 ezreq_fifo_op_valid: bool,
        /// `QXYF_FIFO_OP_VALID`; the guide gives only its name.
        12:12 qxyf_fifo_op_valid: bool,
        /// `QXYF_FIFO_OP_LAST`; the guide gives only its name.
        11:11 qxyf_fifo_op_last: bool,
        /// `QXYF_FIFO_OP1_DUMMY`; the guide gives only its name.
        10:10 qxyf_fifo_op1_dummy: bool,
        /// `QXYF_FIFO_OP1_LAST`; the guide gives only its name.
        9:9 qxyf_fifo_op1_last: bool,
        /// `QXYF_FIFO_OP1_VALID`; the guide gives only its name.
        8:8 qxyf_fifo_op1_valid: bool,
        /// `EZTEST_ANYQVALID`; the guide gives only its name.
        7:7 eztest_anyqvalid: bool,
        /// `EZTEST_ANYQF`; the guide gives only its name.
        6:6 eztest_anyqf: bool,
        /// `EZTEST_QREADY`; the guide gives only its name.
        5:5 eztest_qready: bool,
        /// `EZTEST_VLF_OKNOVALID`; the guide gives only its name.
        4:4 eztest_vlf_oknovalid: bool,
        /// `EZTEST_STALL`; the guide gives only its name.
        3:3 eztest_stall: bool,
        /// `EZTEST_IP_VLFSTALL`; the guide gives only its name.
        2:2 eztest_ip_vlfstall: bool,
        /// `EZTEST_IP_PRSTALL`; the guide gives only its name.
        1:1 eztest_ip_prstall: bool,
        /// `EZTEST_IP_QSTALL`; the guide gives only its name.
        0:0 eztest_ip_qstall: bool,
    }
}

layout! {
    /// Binner debug [AG p.104].
    pub struct Bxcf: 32 bits "V3D_BXCF" {
        /// Disable clipping.
        1:1 clipdisa: bool,
        /// Disable forwarding in the state cache.
        0:0 fwddisa: bool,
    }
}
