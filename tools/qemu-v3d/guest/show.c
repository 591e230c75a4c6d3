/*
 * Draws on the screen with the kernel's mode setting (DRM), without the V3D and without libraries, and writes what should be seen.
 *
 *     show FOLDER KIND
 *
 * KIND is xrgb8888, rgb565, tiled (XRGB8888 in T-format), cursor (a half transparent cursor over XRGB8888), scaled (a second plane over it, enlarged in one
 * direction and reduced in the other) or flips (two images in turn). The expected picture goes to FOLDER/KIND.ppm. Then the line `### screen screen/KIND` asks
 * the host for a picture of the screen, and the host answers with a line on the standard input when it has taken it.
 */
#include <drm/drm.h>
#include <drm/drm_fourcc.h>
#include <drm/drm_mode.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 32, CURSOR = 64, CURSOR_X = 300, CURSOR_Y = 200, SCALED_X = 100, SCALED_Y = 50, SCALED_WIDTH = 400, SCALED_HEIGHT = 100, SOURCE_WIDTH = 150, SOURCE_HEIGHT = 130, FLIPS = 30, VBLANKS = 60 };

static int card = -1;
static uint32_t crtc, crtc_number, connector;
static struct drm_mode_modeinfo mode;

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

static void call(unsigned long request, void *argument, const char *what)
{
    if (ioctl(card, request, argument) != 0)
        fail(what);
}

/* Finds the connector with a screen, its first mode, which is the one that the screen prefers, and a controller for it. */
static bool find_screen(void)
{
    uint32_t connectors[MOST], crtcs[MOST], encoders[MOST];
    struct drm_mode_modeinfo modes[MOST];
    struct drm_mode_card_res resources = {
        .connector_id_ptr = (uintptr_t)connectors, .count_connectors = MOST, .crtc_id_ptr = (uintptr_t)crtcs, .count_crtcs = MOST,
    };
    call(DRM_IOCTL_MODE_GETRESOURCES, &resources, "resources");
    for (uint32_t index = 0; index < resources.count_connectors; index++) {
        uint32_t properties[MOST];
        uint64_t values[MOST];
        struct drm_mode_get_connector query = { .connector_id = connectors[index] };
        /* The first call asks the screen for its modes, the second takes them. */
        call(DRM_IOCTL_MODE_GETCONNECTOR, &query, "connector");
        if (query.connection != 1 || query.connector_type != DRM_MODE_CONNECTOR_HDMIA || query.count_modes == 0)
            continue;
        query.count_modes = query.count_encoders = query.count_props = MOST;
        query.modes_ptr = (uintptr_t)modes;
        query.encoders_ptr = (uintptr_t)encoders;
        query.props_ptr = (uintptr_t)properties;
        query.prop_values_ptr = (uintptr_t)values;
        call(DRM_IOCTL_MODE_GETCONNECTOR, &query, "connector's modes");
        struct drm_mode_get_encoder encoder = { .encoder_id = encoders[0] };
        call(DRM_IOCTL_MODE_GETENCODER, &encoder, "encoder");
        for (uint32_t number = 0; number < resources.count_crtcs; number++)
            if (encoder.possible_crtcs >> number & 1)
                crtc = crtcs[crtc_number = number];
        connector = connectors[index];
        mode = modes[0];
        return true;
    }
    return false;
}

static void open_card(void)
{
    for (int number = 0; number < 4; number++) {
        char path[32];
        snprintf(path, sizeof path, "/dev/dri/card%d", number);
        card = open(path, O_RDWR);
        if (card >= 0 && find_screen())
            return;
    }
    printf("show: no card has a screen\n");
    exit(1);
}

struct image {
    uint32_t framebuffer, pitch, handle;
    uint8_t *pixels;
};

/* An image in memory, with room for whole tiles. */
static struct image image(uint32_t width, uint32_t height, uint32_t bits, uint32_t format, bool tiled)
{
    struct drm_mode_create_dumb create = { .width = width, .height = (height + 31) / 32 * 32, .bpp = bits };
    call(DRM_IOCTL_MODE_CREATE_DUMB, &create, "image");
    struct drm_mode_map_dumb map = { .handle = create.handle };
    call(DRM_IOCTL_MODE_MAP_DUMB, &map, "mapping");
    struct drm_mode_fb_cmd2 add = {
        .width = width, .height = height, .pixel_format = format, .flags = tiled ? DRM_MODE_FB_MODIFIERS : 0,
        .handles = { create.handle }, .pitches = { create.pitch },
        .modifier = { tiled ? DRM_FORMAT_MOD_BROADCOM_VC4_T_TILED : 0 },
    };
    call(DRM_IOCTL_MODE_ADDFB2, &add, "framebuffer");
    void *pixels = mmap(NULL, create.size, PROT_READ | PROT_WRITE, MAP_SHARED, card, map.offset);
    if (pixels == MAP_FAILED)
        fail("mapping");
    return (struct image){ add.fb_id, create.pitch, create.handle, pixels };
}

/* What image `number` has at (x, y): all values of all components, and edges at every place. */
static uint32_t colour(uint32_t number, uint32_t x, uint32_t y)
{
    uint32_t red = x * 5 + number * 64, green = y * 3 + (x >> 6) * 16, blue = x ^ y;
    return (red & 255) << 16 | (green & 255) << 8 | (blue & 255);
}

/* Bytes from the start of an image in T-format to a pixel of 32 bits, by the description of the format: tiles of 32 x 32 pixels, of 2 x 2 sub-tiles, of 4 x 4
 * micro-tiles, of 4 x 4 pixels. */
static uint32_t tiled(uint32_t width, uint32_t x, uint32_t y)
{
    static const uint32_t even[4] = { 0, 3, 1, 2 }, odd[4] = { 2, 1, 3, 0 };
    uint32_t across = width / 32, row = y / 32, column = x / 32, quarter = (y / 16 & 1) * 2 + (x / 16 & 1);
    uint32_t tile = row * across + (row & 1 ? across - 1 - column : column);
    uint32_t sub_tile = (row & 1 ? odd : even)[quarter];
    return tile * 4096 + sub_tile * 1024 + (y / 4 & 3) * 256 + (x / 4 & 3) * 64 + (y & 3) * 16 + (x & 3) * 4;
}

static uint32_t product(uint32_t a, uint32_t b)
{
    return (a * b + 127) / 255;
}

/* A pixel of the cursor, multiplied by its alpha, which grows from left to right. */
static uint32_t cursor_pixel(uint32_t x, uint32_t y)
{
    uint32_t alpha = x * 255 / (CURSOR - 1);
    return alpha << 24 | product(y * 4, alpha) << 16 | product(255 - y * 4, alpha) << 8 | alpha / 2;
}

static uint32_t over(uint32_t pixel, uint32_t below)
{
    uint32_t result = 0;
    for (int shift = 0; shift < 24; shift += 8)
        result |= ((pixel >> shift & 255) + product(below >> shift & 255, 255 - (pixel >> 24))) << shift;
    return result;
}

/* What lies at a place between two pixels of a scaled image: the first of them, and how near the second is, in 1/256. */
static uint32_t place(uint32_t pixel, uint32_t scaled, uint32_t size, uint32_t *part)
{
    int64_t middle = ((2 * pixel + 1) * (int64_t)size * 32768 / scaled) - 32768;
    int64_t last = (int64_t)(size - 1) * 65536, inside = middle < 0 ? 0 : middle > last ? last : middle;
    *part = inside / 256 % 256;
    return inside / 65536;
}

static uint32_t mix(uint32_t a, uint32_t b, uint32_t part)
{
    uint32_t result = 0;
    for (int shift = 0; shift < 24; shift += 8)
        result |= ((a >> shift & 255) * (256 - part) + (b >> shift & 255) * part + 128) / 256 << shift;
    return result;
}

/* Shows image 1 in a plane that is not of its size, and draws it into the expected picture, interpolated between pixels. */
static void show_scaled(const struct image *image, uint32_t *expected)
{
    uint32_t planes[MOST];
    struct drm_mode_get_plane_res resources = { .plane_id_ptr = (uintptr_t)planes, .count_planes = MOST };
    call(DRM_IOCTL_MODE_GETPLANERESOURCES, &resources, "planes");
    struct drm_mode_set_plane set = {
        .crtc_id = crtc, .fb_id = image->framebuffer, .crtc_x = SCALED_X, .crtc_y = SCALED_Y, .crtc_w = SCALED_WIDTH, .crtc_h = SCALED_HEIGHT,
        .src_w = SOURCE_WIDTH << 16, .src_h = SOURCE_HEIGHT << 16,
    };
    for (uint32_t index = 0; index < resources.count_planes && set.plane_id == 0; index++) {
        struct drm_mode_get_plane plane = { .plane_id = planes[index] };
        call(DRM_IOCTL_MODE_GETPLANE, &plane, "plane");
        if (plane.possible_crtcs >> crtc_number & 1)
            set.plane_id = planes[index];
    }
    call(DRM_IOCTL_MODE_SETPLANE, &set, "scaled plane");
    for (uint32_t y = 0; y < SCALED_HEIGHT; y++)
        for (uint32_t x = 0; x < SCALED_WIDTH; x++) {
            uint32_t down, right, top = place(y, SCALED_HEIGHT, SOURCE_HEIGHT, &down), left = place(x, SCALED_WIDTH, SOURCE_WIDTH, &right);
            uint32_t bottom = top + (top < SOURCE_HEIGHT - 1), next = left + (left < SOURCE_WIDTH - 1);
            expected[(SCALED_Y + y) * mode.hdisplay + SCALED_X + x] = mix(mix(colour(1, left, top), colour(1, left, bottom), down),
                                                                         mix(colour(1, next, top), colour(1, next, bottom), down), right);
        }
}

static int64_t microseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000LL + now.tv_nsec / 1000;
}

static void show(const struct image *image)
{
    struct drm_mode_crtc set = {
        .crtc_id = crtc, .fb_id = image->framebuffer, .set_connectors_ptr = (uintptr_t)&connector, .count_connectors = 1, .mode = mode, .mode_valid = 1,
    };
    call(DRM_IOCTL_MODE_SETCRTC, &set, "mode");
}

/* Shows two images in turn, and prints how long the kernel took to say so each time, and how long some vertical blankings take. */
static void flip(const struct image images[2])
{
    int64_t start = microseconds();
    for (uint32_t number = 1; number <= FLIPS; number++) {
        struct drm_mode_crtc_page_flip flip = { .crtc_id = crtc, .fb_id = images[number & 1].framebuffer, .flags = DRM_MODE_PAGE_FLIP_EVENT };
        struct drm_event_vblank event;
        struct pollfd ready = { .fd = card, .events = POLLIN };
        call(DRM_IOCTL_MODE_PAGE_FLIP, &flip, "flip");
        if (poll(&ready, 1, 5000) != 1 || read(card, &event, sizeof event) != sizeof event)
            fail("the end of a flip");
    }
    printf("flips %d\nmicroseconds of a flip %lld\n", FLIPS, (long long)(microseconds() - start) / FLIPS);
    enum drm_vblank_seq_type type = _DRM_VBLANK_RELATIVE | crtc_number << _DRM_VBLANK_HIGH_CRTC_SHIFT;
    union drm_wait_vblank wait = { .request = { .type = type, .sequence = 1 } };
    call(DRM_IOCTL_WAIT_VBLANK, &wait, "vertical blanking");
    uint32_t first = wait.reply.sequence;
    start = microseconds();
    wait.request = (struct drm_wait_vblank_request){ .type = type, .sequence = VBLANKS };
    call(DRM_IOCTL_WAIT_VBLANK, &wait, "vertical blankings");
    printf("vertical blankings %u\nmicroseconds of them %lld\n", wait.reply.sequence - first, (long long)(microseconds() - start));
}

int main(int count, char **words)
{
    if (count != 3) {
        printf("show FOLDER xrgb8888|rgb565|tiled|cursor|scaled|flips\n");
        return 1;
    }
    const char *folder = words[1], *kind = words[2];
    bool is_narrow = strcmp(kind, "rgb565") == 0, is_tiled = strcmp(kind, "tiled") == 0;
    open_card();
    uint32_t width = mode.hdisplay, height = mode.vdisplay;
    printf("mode %ux%u\n", width, height);
    uint32_t *expected = malloc(width * height * sizeof *expected);
    struct image images[2];
    for (uint32_t number = 0; number < 2; number++) {
        images[number] = image(width, height, is_narrow ? 16 : 32, is_narrow ? DRM_FORMAT_RGB565 : DRM_FORMAT_XRGB8888, is_tiled);
        for (uint32_t y = 0; y < height; y++)
            for (uint32_t x = 0; x < width; x++) {
                uint32_t pixel = colour(number, x, y), *wide = (uint32_t *)(images[number].pixels + y * images[number].pitch) + x;
                if (is_tiled)
                    wide = (uint32_t *)(images[number].pixels + tiled(width, x, y));
                if (is_narrow) {
                    uint32_t red = pixel >> 19 & 31, green = pixel >> 10 & 63, blue = pixel >> 3 & 31;
                    ((uint16_t *)(images[number].pixels + y * images[number].pitch))[x] = red << 11 | green << 5 | blue;
                    pixel = (red * 255 + 15) / 31 << 16 | (green * 255 + 31) / 63 << 8 | (blue * 255 + 15) / 31;
                } else {
                    *wide = pixel;
                }
                if (number == 0)
                    expected[y * width + x] = pixel;
            }
    }
    show(&images[0]);
    if (strcmp(kind, "flips") == 0)
        flip(images);
    if (strcmp(kind, "scaled") == 0)
        show_scaled(&images[1], expected);
    if (strcmp(kind, "cursor") == 0) {
        struct image cursor = image(CURSOR, CURSOR, 32, DRM_FORMAT_ARGB8888, false);
        for (uint32_t y = 0; y < CURSOR; y++)
            for (uint32_t x = 0; x < CURSOR; x++) {
                uint32_t *place = &expected[(CURSOR_Y + y) * width + CURSOR_X + x];
                ((uint32_t *)(cursor.pixels + y * cursor.pitch))[x] = cursor_pixel(x, y);
                *place = over(cursor_pixel(x, y), *place);
            }
        struct drm_mode_cursor set = {
            .flags = DRM_MODE_CURSOR_BO | DRM_MODE_CURSOR_MOVE, .crtc_id = crtc, .x = CURSOR_X, .y = CURSOR_Y, .width = CURSOR, .height = CURSOR,
            .handle = cursor.handle,
        };
        call(DRM_IOCTL_MODE_CURSOR, &set, "cursor");
    }
    char path[256];
    snprintf(path, sizeof path, "%s/%s.ppm", folder, kind);
    FILE *file = fopen(path, "wb");
    if (file == NULL)
        fail(path);
    fprintf(file, "P6\n%u %u\n255\n", width, height);
    for (uint32_t index = 0; index < width * height; index++) {
        uint8_t bytes[3] = { expected[index] >> 16, expected[index] >> 8, expected[index] };
        fwrite(bytes, 1, sizeof bytes, file);
    }
    fclose(file);
    /* The new list is taken over with the next frame. */
    usleep(100000);
    printf("### screen screen/%s\n", kind);
    fflush(stdout);
    char answer;
    while (read(0, &answer, 1) == 1 && answer != '\n')
        ;
    /* A cursor outlives the program that has set it. */
    struct drm_mode_cursor none = { .flags = DRM_MODE_CURSOR_BO, .crtc_id = crtc };
    call(DRM_IOCTL_MODE_CURSOR, &none, "cursor");
    return 0;
}
