#ifndef V3D_H
#define V3D_H

#include <stddef.h>
#include <stdint.h>

/* Written by `UPDATE_HEADER=1 cargo test -p v3d-c --test header`: the sources are in Rust. */

// Value of `coordinate_offset` of an attribute that the coordinate shader does not read.
#define V3D_NOT_READ UINT32_MAX

// When a test passes.
typedef enum {
  // Never.
  V3D_COMPARE_NEVER,
  // When the fragment's is less.
  V3D_COMPARE_LESS,
  // When it is equal.
  V3D_COMPARE_EQUAL,
  // When it is less or equal.
  V3D_COMPARE_LESS_OR_EQUAL,
  // When it is greater.
  V3D_COMPARE_GREATER,
  // When it is not equal.
  V3D_COMPARE_NOT_EQUAL,
  // When it is greater or equal.
  V3D_COMPARE_GREATER_OR_EQUAL,
  // Always.
  V3D_COMPARE_ALWAYS,
} v3d_compare;

// Which faces are left out.
typedef enum {
  // None.
  V3D_CULL_NONE,
  // Those whose corners are counterclockwise on the screen.
  V3D_CULL_FRONT,
  // Those whose corners are clockwise.
  V3D_CULL_BACK,
} v3d_cull;

// How a fragment's colour is combined with the pixel's.
typedef enum {
  // It replaces it.
  V3D_BLEND_NONE,
  // By its alpha.
  V3D_BLEND_ALPHA,
  // By its alpha, with which its colour is already multiplied.
  V3D_BLEND_PREMULTIPLIED,
  // It is added.
  V3D_BLEND_ADD,
  // They are multiplied.
  V3D_BLEND_MULTIPLY,
} v3d_blend;

// How a texture is sampled between its texels.
typedef enum {
  // The nearest texel.
  V3D_FILTER_NEAREST,
  // Between four texels.
  V3D_FILTER_LINEAR,
  // Between four texels of two mip levels each.
  V3D_FILTER_TRILINEAR,
} v3d_filter;

// How a texture goes on beyond its sides.
typedef enum {
  // It is repeated.
  V3D_WRAP_REPEAT,
  // The texels of its sides go on.
  V3D_WRAP_CLAMP,
  // It is repeated, every second time mirrored.
  V3D_WRAP_MIRROR,
} v3d_wrap;

// How vertices form primitives.
typedef enum {
  // Each vertex is a point.
  V3D_PRIMITIVE_POINTS,
  // Each two vertices are a line.
  V3D_PRIMITIVE_LINES,
  // A line through all vertices.
  V3D_PRIMITIVE_LINE_STRIP,
  // A line through all vertices and back to the first.
  V3D_PRIMITIVE_LINE_LOOP,
  // Each three vertices are a triangle.
  V3D_PRIMITIVE_TRIANGLES,
  // Each vertex forms a triangle with the two before it.
  V3D_PRIMITIVE_TRIANGLE_STRIP,
  // Each vertex forms a triangle with the one before it and the first.
  V3D_PRIMITIVE_TRIANGLE_FAN,
} v3d_primitive;

// What a program reads as the next word of its uniforms.
typedef enum {
  // The value of the slot.
  V3D_SLOT_KIND_CONSTANT,
  // The draw's word with the number `value`.
  V3D_SLOT_KIND_WORD,
  // Half of the viewport's width.
  V3D_SLOT_KIND_VIEWPORT_HALF_WIDTH,
  // Half of the viewport's height.
  V3D_SLOT_KIND_VIEWPORT_HALF_HEIGHT,
  // The scale of depths.
  V3D_SLOT_KIND_VIEWPORT_Z_SCALE,
  // The offset of depths.
  V3D_SLOT_KIND_VIEWPORT_Z_OFFSET,
  // A parameter of a texture of the draw: `value` is four times the texture's number, plus the parameter's.
  V3D_SLOT_KIND_TEXTURE,
} v3d_slot_kind;

// Bytes in GPU memory.
typedef struct v3d_buffer v3d_buffer;

// A V3D that draws.
typedef struct v3d_device v3d_device;

// A frame that is being recorded.
typedef struct v3d_frame v3d_frame;

// Vertices, and the order in which they are drawn.
typedef struct v3d_mesh v3d_mesh;

// Programs in GPU memory, and their state.
typedef struct v3d_pipeline v3d_pipeline;

// A picture that passes draw to.
typedef struct v3d_target v3d_target;

// A two-dimensional texture.
typedef struct v3d_texture v3d_texture;

// A board, and functions of the kernel for it. Each gets `context` as its first argument.
typedef struct {
  // Handed on to the functions.
  void *context;
  // Loads a word from a physical address: of a register, or of memory that is not cached.
  uint32_t (*load)(void *context, uint32_t address);
  // Stores a word likewise.
  void (*store)(void *context, uint32_t address, uint32_t word);
  // Completes all earlier loads and stores before any later one begins: `dsb sy`, or on an ARM1176 `mcr p15, 0, r0, c7, c10, 4`.
  void (*complete)(void *context);
  // Memory for the library, or NULL: so many bytes, aligned to a power of two. Only one set of functions for memory is used, that of the first device.
  void *(*allocate)(void *context, uintptr_t bytes, uintptr_t alignment);
  // Takes memory of `allocate` back.
  void (*release)(void *context, void *memory);
  // Address of the peripherals: 0x20000000 on a Pi 1 and Zero, 0x3f000000 on a Pi 2, 3 and Zero 2 W.
  uint32_t peripherals;
  // Added to addresses of memory for the GPU: 0x40000000 on a Pi 1 and Zero, 0xc0000000 on the others.
  uint32_t alias;
  // Memory for the GPU: its physical address, a multiple of 4096. Not cached, used by nothing else, below 256 MiB.
  uint32_t pool;
  // Its size in bytes, a multiple of 4.
  uint32_t pool_bytes;
  // Memory for messages to the firmware: the physical address of 12 KiB, a multiple of 16. Not cached, used by nothing else.
  uint32_t messages;
} v3d_board;

// A framebuffer of the firmware: pages of 32-bit pixels, red in the lowest byte, one above the other.
typedef struct {
  // Physical address of the first page's first pixel.
  uint32_t address;
  // Number of pages.
  uint32_t pages;
  // Width in pixels.
  uint32_t width;
  // Height of a page in pixels.
  uint32_t height;
  // Bytes from one row to the next.
  uint32_t pitch;
} v3d_display;

// A word of a program's uniforms.
typedef struct {
  // A `v3d_slot_kind`.
  uint32_t kind;
  // Its meaning depends on the kind.
  uint32_t value;
} v3d_slot;

// An attribute of a vertex. Offsets are in bytes.
typedef struct {
  // Its size in bytes.
  uint32_t bytes;
  // Its place in a vertex in memory.
  uint32_t memory_offset;
  // Its place in what the vertex shader reads.
  uint32_t vertex_offset;
  // Its place in what the coordinate shader reads; 0xffffffff if it does not read it.
  uint32_t coordinate_offset;
} v3d_attribute;

// The programs of a pipeline, and what they read and write. `shader-build` writes such structures from WGSL and assembly.
typedef struct {
  // Instructions of the vertex shader.
  const uint64_t *vertex;
  // How many.
  uintptr_t vertex_count;
  // Instructions of the coordinate shader.
  const uint64_t *coordinate;
  // How many.
  uintptr_t coordinate_count;
  // Instructions of the fragment shader, which leaves its end to the pipeline.
  const uint64_t *fragment;
  // How many.
  uintptr_t fragment_count;
  // Uniforms of the vertex shader.
  const v3d_slot *vertex_slots;
  // How many.
  uintptr_t vertex_slot_count;
  // Uniforms of the coordinate shader.
  const v3d_slot *coordinate_slots;
  // How many.
  uintptr_t coordinate_slot_count;
  // Uniforms of the fragment shader.
  const v3d_slot *fragment_slots;
  // How many.
  uintptr_t fragment_slot_count;
  // Attributes of a vertex.
  const v3d_attribute *attributes;
  // How many.
  uintptr_t attribute_count;
  // Bytes of a vertex in memory.
  uint32_t vertex_bytes;
  // Varyings that the vertex shader writes and the fragment shader reads.
  uint32_t varyings;
  // A bit for each varying that is not interpolated.
  uint32_t flat_varyings;
  // Threads of the fragment shader, 1 or 2.
  uint32_t threads;
  // 1 if the fragment shader leaves a depth of its own.
  uint32_t writes_depth;
  // 1 if the fragment shader discards fragments.
  uint32_t discards;
} v3d_programs;

// The state of a pipeline. All zeros but `depth_test` (7, always) draw over what is there.
typedef struct {
  // A `v3d_compare` for depths.
  uint32_t depth_test;
  // 1 if depths are stored.
  uint32_t depth_write;
  // A `v3d_cull`.
  uint32_t cull;
  // A `v3d_blend`.
  uint32_t blend;
  // 4 for four samples a pixel, otherwise one. It must be the pass's.
  uint32_t samples;
} v3d_state;

// A texture of a draw, and how it is sampled.
typedef struct {
  // The texture.
  const v3d_texture *texture;
  // Between its texels: a `v3d_filter`.
  uint32_t filter;
  // Beyond its sides: a `v3d_wrap`.
  uint32_t wrap;
} v3d_binding;

// What a draw passes to its pipeline's programs: words for the slots of the kind `Word`, and textures.
typedef struct {
  // Words of the vertex shader.
  const uint32_t *vertex;
  // How many.
  uintptr_t vertex_count;
  // Words of the fragment shader.
  const uint32_t *fragment;
  // How many.
  uintptr_t fragment_count;
  // Textures of the fragment shader.
  const v3d_binding *textures;
  // How many.
  uintptr_t texture_count;
} v3d_uniforms;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Why the last function that failed did so: a sentence without a full stop, terminated by a zero. It is valid until the next function fails.
const char *v3d_error(void);

// Switches the V3D of a board on and initialises it. The board is copied.
//
// NULL if a function is missing, or there is no V3D, no clock, no power, or no memory.
//
// # Safety
// `board` is valid, and its functions do what their documentation says.
v3d_device *v3d_open(const v3d_board *board);

// Waits until all work is done and frees the device.
//
// # Safety
// `device` is of [`v3d_open`], and is not used any more.
void v3d_close(v3d_device *device);

// Checks the V3D and the board step by step, from its identity to a program, and calls `tell` for each step: what was checked, whether it passed (1 or
// 0), and a remark. Returns whether all passed.
//
// # Safety
// `device` is valid; the texts are valid during the call of `tell`.
int32_t v3d_check(const v3d_device *device,
                  void *context,
                  void (*tell)(void *context, const char *what, int32_t passed, const char *remark));

// Has the firmware allocate a framebuffer of up to three pages, of this size or a smaller one; returns 1 if it did.
//
// # Safety
// Both pointers are valid.
int32_t v3d_display_open(const v3d_device *device, uint32_t width, uint32_t height, v3d_display *display);

// Has the display show a page; returns 1 if the firmware did.
//
// # Safety
// Both pointers are valid.
int32_t v3d_display_show(const v3d_device *device, const v3d_display *display, uint32_t page);

// A page of the display as a target of passes; NULL if it cannot be one.
//
// # Safety
// Both pointers are valid.
v3d_target *v3d_display_target(const v3d_device *device, const v3d_display *display, uint32_t page);

// Waits until everything that was submitted so far is drawn; returns 1 if the last frame was.
//
// # Safety
// `device` is valid.
int32_t v3d_wait(const v3d_device *device);

// Copies bytes into GPU memory, at an address that is a multiple of `alignment`; NULL if there is not enough memory.
//
// # Safety
// Pointers are valid, `bytes` for so many of them.
v3d_buffer *v3d_buffer_new(const v3d_device *device, const uint8_t *bytes, uintptr_t count, uint32_t alignment);

// Address of a buffer as programs see it: a word of uniforms. The buffer must not be freed before the frames that use it are drawn.
//
// # Safety
// `buffer` is valid.
uint32_t v3d_buffer_address(const v3d_buffer *buffer);

// Frees a buffer.
//
// # Safety
// `buffer` is NULL, or of [`v3d_buffer_new`] and not used any more.
void v3d_buffer_free(v3d_buffer *buffer);

// Copies vertices of `stride` bytes each into GPU memory, and 16-bit indices, if there are any. `primitive` is a `v3d_primitive`. NULL if an index is
// too large, or there is not enough memory.
//
// # Safety
// Pointers are valid, `vertices` for so many bytes and `indices` for so many indices; `indices` may be NULL.
v3d_mesh *v3d_mesh_new(const v3d_device *device,
                       uint32_t primitive,
                       const uint8_t *vertices,
                       uintptr_t vertices_bytes,
                       uintptr_t stride,
                       const uint16_t *indices,
                       uintptr_t index_count);

// Frees a mesh.
//
// # Safety
// `mesh` is NULL, or of [`v3d_mesh_new`] and not used any more.
void v3d_mesh_free(v3d_mesh *mesh);

// A texture of the hardware's type `texture_type` (0 is RGBA8888, 16 is RGBA8888 in rows; the guide's table 18 has all), with so many mip levels, 0 for all of
// them. `texels` are written to its first level, in rows from the top; NULL leaves it black. NULL if the hardware has no such texture, the number of bytes is
// not that of the level, or there is not enough memory.
//
// # Safety
// Pointers are valid, `texels` for so many bytes; `texels` may be NULL.
v3d_texture *v3d_texture_new(const v3d_device *device,
                             uint32_t texture_type,
                             uint32_t width,
                             uint32_t height,
                             uint32_t levels,
                             const uint8_t *texels,
                             uintptr_t texels_bytes);

// Has the GPU draw all smaller levels of a texture from its first one; returns 1 if they were submitted.
//
// # Safety
// Pointers are valid.
int32_t v3d_texture_generate_mipmaps(const v3d_device *device, const v3d_texture *texture);

// Frees a texture.
//
// # Safety
// `texture` is NULL, or of a function of this library and not used any more.
void v3d_texture_free(v3d_texture *texture);

// A target in GPU memory of 32 bits a pixel, in the arrangement that textures have; NULL if a side is not 1 to 2048, or there is not enough memory.
//
// # Safety
// `device` is valid.
v3d_target *v3d_target_new(const v3d_device *device,
                           uint32_t width,
                           uint32_t height);

// The texture that shares a target's memory; NULL for a page of the display.
//
// # Safety
// `target` is valid.
v3d_texture *v3d_target_texture(const v3d_target *target);

// Frees a target.
//
// # Safety
// `target` is NULL, or of a function of this library and not used any more.
void v3d_target_free(v3d_target *target);

// Copies programs to GPU memory and encodes the state; NULL if they cannot be combined, or there is not enough memory.
//
// # Safety
// Pointers are valid, those in `programs` for as many values as it says, and these stay as they are while the pipeline exists.
v3d_pipeline *v3d_pipeline_new(const v3d_device *device,
                               const v3d_programs *programs,
                               const v3d_state *state);

// Frees a pipeline.
//
// # Safety
// `pipeline` is NULL, or of [`v3d_pipeline_new`] and not used any more.
void v3d_pipeline_free(v3d_pipeline *pipeline);

// Begins a frame, after waiting until at most one other is being drawn; NULL if there is no memory. It ends with [`v3d_submit`] or [`v3d_frame_free`].
//
// # Safety
// `device` is valid, and stays so until the frame ends.
v3d_frame *v3d_frame_new(const v3d_device *device);

// Begins a pass to a target, after those that the frame already has; returns 1 if it did. `clear` has red, green, blue and alpha from 0 to 1, or is NULL
// to draw over the target's contents. `samples` is 4 for four samples a pixel, and otherwise one.
//
// # Safety
// Pointers are valid, `clear` for four numbers; `clear` may be NULL.
int32_t v3d_pass(v3d_frame *frame,
                 const v3d_target *target,
                 const float *clear,
                 uint32_t samples);

// Draws a mesh in the frame's last pass; returns 1 if it was recorded. Everything may be freed afterwards: the frame keeps what it uses.
//
// # Safety
// Pointers are valid, those in `uniforms` for as many values as it says.
int32_t v3d_draw(v3d_frame *frame,
                 const v3d_pipeline *pipeline,
                 const v3d_mesh *mesh,
                 const v3d_uniforms *uniforms);

// Has the GPU draw a frame, which is freed; returns 1 if it was submitted. [`v3d_wait`](crate::device::v3d_wait) waits for it.
//
// # Safety
// `frame` is of [`v3d_frame_new`], and is not used any more.
int32_t v3d_submit(v3d_frame *frame);

// Frees a frame without drawing it.
//
// # Safety
// `frame` is NULL, or of [`v3d_frame_new`] and not used any more.
void v3d_frame_free(v3d_frame *frame);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* V3D_H */
