/*
 * A kernel in C that draws crates on a tiled floor, as the Rust kernel's scene `textured-cube` does, pixel by pixel.
 *
 * It is linked with libv3d_c.a and with the first instructions of the guide's own kernel, which map the memory: what is below 16 MiB is cached, the rest is not.
 * It includes the library's header and that of its programs, which is written from textured_lit.wgsl.
 */

#include "textured_lit.h"
#include "v3d.h"

/* ---- the board ---- */

/* PERIPHERALS comes from the command line. */
#define UART (PERIPHERALS + 0x201000)
#define MESSAGES 0x01000000u
#define POOL 0x02000000u
#define POOL_BYTES 0x02000000u
#define HEAP_START 0x00400000u
#define HEAP_END 0x01000000u

static uint32_t load(void *context, uint32_t address) {
    (void)context;
    return *(volatile uint32_t *)(uintptr_t)address;
}

static void store(void *context, uint32_t address, uint32_t word) {
    (void)context;
    *(volatile uint32_t *)(uintptr_t)address = word;
}

static void complete(void *context) {
    (void)context;
    __asm__ volatile("dsb sy" ::: "memory");
}

/* Free memory: a list of blocks, of which the first that fits is taken. A block begins with its size, and in a free one the next follows. */
struct block {
    size_t bytes;
    struct block *next;
};

static struct block *free_blocks;
static uintptr_t heap_used = HEAP_START;

static void *allocate(void *context, size_t bytes, size_t alignment) {
    (void)context;
    if (alignment > 16) return NULL;
    bytes = (bytes + 15) & ~(size_t)15;
    for (struct block **place = &free_blocks; *place; place = &(*place)->next) {
        struct block *block = *place;
        if (block->bytes >= bytes && block->bytes <= 2 * bytes) {
            *place = block->next;
            return (char *)block + 16;
        }
    }
    if (bytes > HEAP_END - 16 - heap_used) return NULL;
    struct block *block = (struct block *)heap_used;
    heap_used += bytes + 16;
    block->bytes = bytes;
    return (char *)block + 16;
}

static void release(void *context, void *memory) {
    (void)context;
    struct block *block = (struct block *)((char *)memory - 16);
    block->next = free_blocks;
    free_blocks = block;
}

static const v3d_board board = {
    .load = load,
    .store = store,
    .complete = complete,
    .allocate = allocate,
    .release = release,
    .peripherals = PERIPHERALS,
    .alias = 0xc0000000,
    .pool = POOL,
    .pool_bytes = POOL_BYTES,
    .messages = MESSAGES,
};

/* ---- the serial port ---- */

static void say(const char *text) {
    for (; *text; text++) {
        while (load(NULL, UART + 0x18) & 1 << 5) {
        }
        store(NULL, UART, (uint32_t)*text);
    }
}

static void say_hex(uint32_t word) {
    char digits[9] = {0};
    for (int at = 0; at < 8; at++) digits[at] = "0123456789ABCDEF"[word >> (28 - 4 * at) & 15];
    say(digits);
}

static void sleep(void) {
    for (;;) {
    }
}

static void fail(const char *what) {
    say(what);
    say(": ");
    say(v3d_error());
    say("\n");
    sleep();
}

static void tell_step(void *context, const char *what, int32_t passed, const char *remark) {
    (void)context;
    if (passed) return;
    say("check: ");
    say(what);
    say(": ");
    say(remark);
    say("\n");
}

/* ---- vectors and matrices; a matrix is four columns ---- */

typedef struct { float x, y, z; } vector;
typedef struct { float column[4][4]; } matrix;

/* By Newton's method, with bits to spare. */
static float root(float square) {
    double guess = square;
    for (int step = 0; step < 40; step++) guess = 0.5 * (guess + square / guess);
    return (float)guess;
}

static vector minus(vector a, vector b) { return (vector){a.x - b.x, a.y - b.y, a.z - b.z}; }
static float dot(vector a, vector b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

static vector cross(vector a, vector b) {
    return (vector){a.y * b.z - b.y * a.z, a.z * b.x - b.z * a.x, a.x * b.y - b.x * a.y};
}

static vector normalized(vector a) {
    float by = 1.0f / root(dot(a, a));
    return (vector){a.x * by, a.y * by, a.z * by};
}

static matrix product(const matrix *a, const matrix *b) {
    matrix out;
    for (int column = 0; column < 4; column++) {
        const float *with = b->column[column];
        for (int row = 0; row < 4; row++) {
            float sum = a->column[0][row] * with[0];
            sum = sum + a->column[1][row] * with[1];
            sum = sum + a->column[2][row] * with[2];
            out.column[column][row] = sum + a->column[3][row] * with[3];
        }
    }
    return out;
}

static matrix translation(vector by) {
    return (matrix){{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {by.x, by.y, by.z, 1}}};
}

static matrix rotation(float sine, float cosine) {
    return (matrix){{{cosine, 0, -sine, 0}, {0, 1, 0, 0}, {sine, 0, cosine, 0}, {0, 0, 0, 1}}};
}

/* For an angle of 45 degrees from top to bottom: sine and cosine of its half. */
static matrix perspective(float aspect, float near, float far) {
    float height = 0.92387950420379639f / 0.38268345594406128f;
    float range = 1.0f / (far - near);
    return (matrix){{{height / aspect, 0, 0, 0},
                     {0, height, 0, 0},
                     {0, 0, -(far + near) * range, -1},
                     {0, 0, -2.0f * far * near * range, 0}}};
}

static matrix look_at(vector eye, vector center) {
    vector f = normalized(minus(center, eye));
    vector s = normalized(cross(f, (vector){0, 1, 0}));
    vector u = cross(s, f);
    return (matrix){{{s.x, u.x, -f.x, 0}, {s.y, u.y, -f.y, 0}, {s.z, u.z, -f.z, 0}, {-dot(eye, s), -dot(eye, u), dot(eye, f), 1}}};
}

/* ---- what is drawn ---- */

#define WIDTH 1280
#define HEIGHT 720
#define CRATE_PX 256
#define FLOOR_PX 128

/* The picture of a crate: CRATE_PX rows of CRATE_PX pixels. */
extern const uint8_t crate_rgba[CRATE_PX * CRATE_PX * 4];
__asm__(".section .rodata\n.balign 4\n.globl crate_rgba\ncrate_rgba:\n.incbin \"crate.rgba\"\n.previous");

/* Places of the crates, and sine and cosine of their turns: 0.15, -0.3, 0.6, 0.9. The last one is the floor. */
static const struct { vector place; float sine, cosine; } PLACES[] = {
    {{-0.6f, 0.5f, 0.0f}, 0.14943814277648926f, 0.98877108097076416f},
    {{0.65f, 0.5f, 0.25f}, -0.29552021622657776f, 0.95533651113510132f},
    {{0.05f, 1.5f, 0.1f}, 0.56464248895645142f, 0.82533562183380127f},
    {{-0.2f, 0.5f, -1.6f}, 0.78332692384719849f, 0.62160998582839966f},
    {{0, 0, 0}, 0, 1},
};

/* A rectangle: its middle, from there to the middle of the right and of the upper side, its normal, and how often the texture is repeated. */
static void quad(textured_lit_vertex *corners, uint16_t *indices, int number, vector middle, vector right, vector up, vector normal, float repeats) {
    static const float signs[4][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}};
    static const uint16_t order[6] = {0, 1, 2, 0, 2, 3};
    for (int corner = 0; corner < 4; corner++) {
        float x = signs[corner][0], y = signs[corner][1];
        corners[4 * number + corner] = (textured_lit_vertex){
            .position = {middle.x + x * right.x + y * up.x, middle.y + x * right.y + y * up.y, middle.z + x * right.z + y * up.z},
            .normal = {normal.x, normal.y, normal.z},
            .uv = {repeats * (0.5f + 0.5f * x), repeats * (0.5f - 0.5f * y)},
        };
    }
    for (int at = 0; at < 6; at++) indices[6 * number + at] = (uint16_t)(4 * number + order[at]);
}

static v3d_mesh *crate_mesh(v3d_device *device) {
    static const vector normals[6] = {{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}};
    textured_lit_vertex corners[24];
    uint16_t indices[36];
    for (int side = 0; side < 6; side++) {
        vector n = normals[side];
        vector up = n.y == 0 ? (vector){0, 1, 0} : (vector){0, 0, -n.y};
        vector right = cross(up, n);
        vector half_n = {0.5f * n.x, 0.5f * n.y, 0.5f * n.z};
        vector half_up = {0.5f * up.x, 0.5f * up.y, 0.5f * up.z};
        vector half_right = {0.5f * right.x, 0.5f * right.y, 0.5f * right.z};
        quad(corners, indices, side, half_n, half_right, half_up, n, 1);
    }
    return v3d_mesh_new(device, V3D_PRIMITIVE_TRIANGLES, (const uint8_t *)corners, sizeof corners, sizeof corners[0], indices, 36);
}

static v3d_mesh *floor_mesh(v3d_device *device) {
    textured_lit_vertex corners[4];
    uint16_t indices[6];
    quad(corners, indices, 0, (vector){0, 0, 0}, (vector){40, 0, 0}, (vector){0, 0, -40}, (vector){0, 1, 0}, 40);
    return v3d_mesh_new(device, V3D_PRIMITIVE_TRIANGLES, (const uint8_t *)corners, sizeof corners, sizeof corners[0], indices, 6);
}

/* Light and dark tiles, separated by joints. */
static v3d_texture *floor_texture(v3d_device *device) {
    static const uint8_t joint[4] = {60, 62, 66, 255}, dark[4] = {96, 104, 116, 255}, light[4] = {205, 204, 196, 255};
    static uint8_t texels[FLOOR_PX * FLOOR_PX * 4];
    const int half = FLOOR_PX / 2;
    for (int at = 0; at < FLOOR_PX * FLOOR_PX; at++) {
        int x = at % FLOOR_PX, y = at / FLOOR_PX;
        const uint8_t *color = (x < half) != (y < half) ? dark : light;
        if (x % half < 2 || y % half < 2) color = joint;
        for (int channel = 0; channel < 4; channel++) texels[4 * at + channel] = color[channel];
    }
    return v3d_texture_new(device, 0, FLOOR_PX, FLOOR_PX, 0, texels, sizeof texels);
}

static int draw(v3d_frame *frame, const v3d_pipeline *pipeline, v3d_mesh *const meshes[2], v3d_texture *const textures[2]) {
    matrix projection = perspective((float)WIDTH / (float)HEIGHT, 0.1f, 60.0f);
    matrix view = look_at((vector){1.2f, 2.1f, 4.3f}, (vector){0.0f, 0.8f, 0.0f});
    matrix camera = product(&projection, &view);
    for (int number = 0; number < 5; number++) {
        float sine = PLACES[number].sine, cosine = PLACES[number].cosine;
        matrix place = translation(PLACES[number].place), turn = rotation(sine, cosine);
        matrix placed = product(&camera, &place);
        placed = product(&placed, &turn);
        textured_lit_vertex_words words;
        for (int at = 0; at < 16; at++) words.matrix[at] = placed.column[at % 4][at / 4];
        /* The light is turned the opposite way instead of the normals. */
        words.to_light[0] = -sine * 0.4f + cosine * 0.3f;
        words.to_light[1] = 0.55f;
        words.to_light[2] = cosine * 0.4f + sine * 0.3f;
        words.ambient = 0.42f;
        int is_floor = number == 4;
        v3d_binding image = {textures[is_floor], V3D_FILTER_TRILINEAR, V3D_WRAP_REPEAT};
        v3d_uniforms uniforms = {(const uint32_t *)&words, sizeof words / 4, NULL, 0, &image, 1};
        if (!v3d_draw(frame, pipeline, meshes[is_floor], &uniforms)) return 0;
    }
    return 1;
}

/* CRC-32 of the pixels that a page shows. */
static uint32_t crc(const v3d_display *display, uint32_t page) {
    uint32_t sum = 0xffffffff;
    for (uint32_t y = 0; y < display->height; y++) {
        uint32_t row = display->address + (page * display->height + y) * display->pitch;
        for (uint32_t x = 0; x < display->width; x++) {
            sum ^= load(NULL, row + 4 * x);
            for (int bit = 0; bit < 32; bit++) sum = sum & 1 ? sum >> 1 ^ 0xedb88320 : sum >> 1;
        }
    }
    return ~sum;
}

/* The first instructions call this with the memory mapped. */
void kernel_entry(void) {
    v3d_device *device = v3d_open(&board);
    if (!device) fail("v3d_open");
    if (!v3d_check(device, NULL, tell_step)) say("c kernel: the check has failed\n");
    v3d_display display;
    if (!v3d_display_open(device, WIDTH, HEIGHT, &display)) fail("v3d_display_open");

    v3d_mesh *meshes[2] = {crate_mesh(device), floor_mesh(device)};
    v3d_texture *textures[2] = {v3d_texture_new(device, 0, CRATE_PX, CRATE_PX, 0, crate_rgba, sizeof crate_rgba), floor_texture(device)};
    v3d_state state = {.depth_test = V3D_COMPARE_LESS, .depth_write = 1, .cull = V3D_CULL_BACK};
    v3d_pipeline *pipeline = v3d_pipeline_new(device, &textured_lit, &state);
    if (!meshes[0] || !meshes[1] || !textures[0] || !textures[1] || !pipeline) fail("a resource");
    for (int number = 0; number < 2; number++) {
        if (!v3d_texture_generate_mipmaps(device, textures[number])) fail("v3d_texture_generate_mipmaps");
    }

    uint32_t page = display.pages > 1;
    v3d_target *target = v3d_display_target(device, &display, page);
    v3d_frame *frame = v3d_frame_new(device);
    const float sky[4] = {150.0f / 255.0f, 178.0f / 255.0f, 205.0f / 255.0f, 1.0f};
    if (!target || !frame || !v3d_pass(frame, target, sky, 1)) fail("v3d_pass");
    if (!draw(frame, pipeline, meshes, textures)) fail("v3d_draw");
    if (!v3d_submit(frame) || !v3d_wait(device)) fail("the frame");
    if (!v3d_display_show(device, &display, page)) fail("v3d_display_show");

    say("c kernel: picture ");
    say_hex(crc(&display, page));
    say("\n");
    sleep();
}
