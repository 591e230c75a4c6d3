/* Written from textured_lit.wgsl: its programs for v3d-c. */

#pragma once

#include "v3d.h"

/* A vertex in memory. */
typedef struct {
    float position[3];
    float normal[3];
    float uv[2];
} textured_lit_vertex;

/* Words of the vertex shader; matrices in rows. */
typedef struct {
    float matrix[16];
    float to_light[3];
    float ambient;
} textured_lit_vertex_words;

/* Words of the fragment shader; matrices in rows. */
typedef struct {
    float matrix[16];
    float to_light[3];
    float ambient;
} textured_lit_fragment_words;

/* Texture 0 is image. */

static const uint64_t textured_lit_vertex_code[] = {
    0xe0020c6700801a00,
    0xe0021c6700001a00,
    0x1002086715c27d80,
    0x100248a335c20d8f,
    0x1002402035c20d97,
    0x100258c181c27636,
    0x100049e020020037,
    0x100258c22182760e,
    0x100258c3818307bf,
    0x10024d20358276d6,
    0x100059c420020037,
    0x1002500535830fce,
    0x100049c120827016,
    0x100059c620020037,
    0x10025802210a0c0f,
    0x1002482221120197,
    0x100248232182719c,
    0x1002086701141dc0,
    0xd00258c422821ec6,
    0x10024863211a73a3,
    0x100049e020020037,
    0x100208a7010a7c80,
    0x1002086701827380,
    0x100248a02112741e,
    0x101240212782700e,
    0x100248a121827599,
    0x1022402227827256,
    0x100049e2209e701a,
    0x10020c2715027d80,
    0x10020c2701827580,
    0x10024c21350606f7,
    0x100049e2200e0037,
    0x10024862218002be,
    0x1002487081c272b6,
    0xd002487084c00e76,
    0x10020c2701827380,
    0x300009e7009e7000,
    0x100009e7009e7000,
    0x100009e7009e7000,
};

static const v3d_slot textured_lit_vertex_slots[] = {
    { V3D_SLOT_KIND_WORD, 12 },
    { V3D_SLOT_KIND_WORD, 13 },
    { V3D_SLOT_KIND_WORD, 14 },
    { V3D_SLOT_KIND_WORD, 0 },
    { V3D_SLOT_KIND_WORD, 15 },
    { V3D_SLOT_KIND_WORD, 1 },
    { V3D_SLOT_KIND_WORD, 2 },
    { V3D_SLOT_KIND_WORD, 4 },
    { V3D_SLOT_KIND_WORD, 5 },
    { V3D_SLOT_KIND_WORD, 6 },
    { V3D_SLOT_KIND_WORD, 8 },
    { V3D_SLOT_KIND_WORD, 9 },
    { V3D_SLOT_KIND_WORD, 3 },
    { V3D_SLOT_KIND_VIEWPORT_HALF_WIDTH, 0 },
    { V3D_SLOT_KIND_WORD, 10 },
    { V3D_SLOT_KIND_WORD, 7 },
    { V3D_SLOT_KIND_VIEWPORT_HALF_HEIGHT, 0 },
    { V3D_SLOT_KIND_WORD, 11 },
    { V3D_SLOT_KIND_VIEWPORT_Z_SCALE, 0 },
    { V3D_SLOT_KIND_VIEWPORT_Z_OFFSET, 0 },
    { V3D_SLOT_KIND_WORD, 16 },
    { V3D_SLOT_KIND_WORD, 17 },
    { V3D_SLOT_KIND_WORD, 18 },
    { V3D_SLOT_KIND_WORD, 19 },
};

static const uint64_t textured_lit_coordinate_code[] = {
    0xe0020c6700301a00,
    0xe0021c6700001a00,
    0x1002002715c27d80,
    0x1002006715c27d80,
    0x100200a715c27d80,
    0x100049e120020037,
    0x100049e220060037,
    0x10024862210a02b7,
    0x10024862210202b7,
    0x1002086701827380,
    0x10024d2335060277,
    0x100248a3210a04f7,
    0x100248a0210204f7,
    0x100049e320060037,
    0x10024823210a00f7,
    0x10025800210200f7,
    0x100049e320060037,
    0x100258812182758c,
    0x100258c021020cd7,
    0x10025c02350a04b7,
    0xd00208a702061f80,
    0x10024800218271a2,
    0x100248e2210a0787,
    0x100248f081827780,
    0x10024c20350006fe,
    0x10124022279c003a,
    0x102240232782749e,
    0x10024c23359c027b,
    0x10020c2715027d80,
    0x10020c2701827780,
    0x10020c27159c0fc0,
    0x300009e7009e7000,
    0x100009e7009e7000,
    0x100009e7009e7000,
};

static const v3d_slot textured_lit_coordinate_slots[] = {
    { V3D_SLOT_KIND_WORD, 12 },
    { V3D_SLOT_KIND_WORD, 13 },
    { V3D_SLOT_KIND_WORD, 14 },
    { V3D_SLOT_KIND_WORD, 0 },
    { V3D_SLOT_KIND_WORD, 15 },
    { V3D_SLOT_KIND_WORD, 1 },
    { V3D_SLOT_KIND_WORD, 2 },
    { V3D_SLOT_KIND_WORD, 4 },
    { V3D_SLOT_KIND_WORD, 5 },
    { V3D_SLOT_KIND_WORD, 6 },
    { V3D_SLOT_KIND_WORD, 8 },
    { V3D_SLOT_KIND_WORD, 9 },
    { V3D_SLOT_KIND_WORD, 3 },
    { V3D_SLOT_KIND_VIEWPORT_HALF_WIDTH, 0 },
    { V3D_SLOT_KIND_WORD, 10 },
    { V3D_SLOT_KIND_WORD, 7 },
    { V3D_SLOT_KIND_VIEWPORT_HALF_HEIGHT, 0 },
    { V3D_SLOT_KIND_WORD, 11 },
    { V3D_SLOT_KIND_VIEWPORT_Z_SCALE, 0 },
    { V3D_SLOT_KIND_VIEWPORT_Z_OFFSET, 0 },
};

static const uint64_t textured_lit_fragment_code[] = {
    0x100049e1203e303e,
    0x10024862213e337e,
    0x600248a3213e357e,
    0x100248f9819e7752,
    0xd0024038839e07c9,
    0xa00009e7009e7000,
    0x193049e020027026,
    0x1b5049e020027026,
    0x1d6049e020027026,
    0xdf7049e0209e0027,
};

static const v3d_slot textured_lit_fragment_slots[] = {
    { V3D_SLOT_KIND_TEXTURE, 0 },
    { V3D_SLOT_KIND_TEXTURE, 1 },
};

static const v3d_attribute textured_lit_attributes[] = {
    { 12, 0, 0, 0 },
    { 12, 12, 12, V3D_NOT_READ },
    { 8, 24, 24, V3D_NOT_READ },
};

static const v3d_programs textured_lit = {
    .vertex = textured_lit_vertex_code, .vertex_count = 39,
    .coordinate = textured_lit_coordinate_code, .coordinate_count = 34,
    .fragment = textured_lit_fragment_code, .fragment_count = 10,
    .vertex_slots = textured_lit_vertex_slots, .vertex_slot_count = 24,
    .coordinate_slots = textured_lit_coordinate_slots, .coordinate_slot_count = 20,
    .fragment_slots = textured_lit_fragment_slots, .fragment_slot_count = 2,
    .attributes = textured_lit_attributes, .attribute_count = 3,
    .vertex_bytes = 32, .varyings = 3, .flat_varyings = 0, .threads = 2,
    .writes_depth = 0, .discards = 0,
};
