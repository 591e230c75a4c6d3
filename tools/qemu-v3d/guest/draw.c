/*
 * Draws small scenes without a display, with EGL's surfaceless platform and OpenGL ES 2, writes pictures of them, and prints what it measured.
 *
 *     draw FOLDER SCENE[:FRAMES[:EVERY[:SIZE]]]...
 *
 * draws FRAMES frames of each scene (1 if absent) and writes a picture of each EVERY-th (of the last, if absent or 0) to FOLDER/SCENE-FRAME.ppm. SIZE is a
 * number that some scenes take: of triangles, or of turns of a loop. In the environment, SAMPLES=4 selects multisampling.
 */
#define GL_GLEXT_PROTOTYPES
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GLES2/gl2.h>
#include <GLES2/gl2ext.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WIDTH = 256, HEIGHT = 256, MOST_COUNTERS = 64 };

static const char *folder;

static void fail(const char *what, const char *details)
{
    printf("draw: %s: %s\n", what, details);
    exit(1);
}

static GLuint compile(GLenum kind, const char *source)
{
    GLuint shader = glCreateShader(kind);
    GLint done = 0;
    char log[1024] = "";
    glShaderSource(shader, 1, &source, NULL);
    glCompileShader(shader);
    glGetShaderiv(shader, GL_COMPILE_STATUS, &done);
    glGetShaderInfoLog(shader, sizeof log, NULL, log);
    if (!done)
        fail("a shader does not compile", log);
    return shader;
}

/* Links a program with the attributes `place`, `normal` and `uv` at 0, 1 and 2, and uses it. */
static GLuint use(const char *vertex, const char *fragment)
{
    GLuint program = glCreateProgram();
    GLint done = 0;
    char log[1024] = "";
    glAttachShader(program, compile(GL_VERTEX_SHADER, vertex));
    glAttachShader(program, compile(GL_FRAGMENT_SHADER, fragment));
    glBindAttribLocation(program, 0, "place");
    glBindAttribLocation(program, 1, "normal");
    glBindAttribLocation(program, 2, "uv");
    glLinkProgram(program);
    glGetProgramiv(program, GL_LINK_STATUS, &done);
    glGetProgramInfoLog(program, sizeof log, NULL, log);
    if (!done)
        fail("a program does not link", log);
    glUseProgram(program);
    return program;
}

/* An array of floats, `components` of them for each vertex, as an attribute. */
static void attribute(GLuint number, int components, int stride, const float *values)
{
    glVertexAttribPointer(number, components, GL_FLOAT, GL_FALSE, stride * (int)sizeof *values, values);
    glEnableVertexAttribArray(number);
}

static void fresh_state(void)
{
    glDisable(GL_DEPTH_TEST);
    glDisable(GL_BLEND);
    glDisable(GL_SCISSOR_TEST);
    glDisable(GL_STENCIL_TEST);
    for (GLuint number = 0; number < 3; number++)
        glDisableVertexAttribArray(number);
    glClearColor(0.1f, 0.1f, 0.2f, 1);
}

/* A matrix in columns: perspective, then a distance, then turns around the axes y and x. */
static void camera(float *matrix, float around_x, float around_y, float distance)
{
    float near = 1, far = 20, zoom = 1.7f;
    float cx = cosf(around_x), sx = sinf(around_x), cy = cosf(around_y), sy = sinf(around_y);
    float turn[3][3] = { { cy, 0, sy }, { sx * sy, cx, -sx * cy }, { -cx * sy, sx, cx * cy } };
    for (int column = 0; column < 3; column++) {
        matrix[4 * column + 0] = zoom * turn[0][column];
        matrix[4 * column + 1] = zoom * turn[1][column];
        matrix[4 * column + 2] = -(far + near) / (far - near) * turn[2][column];
        matrix[4 * column + 3] = -turn[2][column];
    }
    matrix[12] = matrix[13] = 0;
    matrix[14] = (far + near) / (far - near) * distance - 2 * far * near / (far - near);
    matrix[15] = distance;
}

static uint32_t seed;

static float random_number(void)
{
    seed = seed * 1664525u + 1013904223u;
    return (float)(seed >> 8) / 16777216.0f;
}

static void triangle(int frame, int size)
{
    static const float corners[] = { -0.9f, -0.8f, 0, 0, 1, 0.9f, -0.8f, 0, 1, 0, 0, 0.9f, 1, 0, 0 };
    (void)size;
    if (frame == 0) {
        use("attribute vec2 place; attribute vec3 normal; varying vec3 color;"
            "void main() { color = normal; gl_Position = vec4(place, 0.0, 1.0); }",
            "precision mediump float; varying vec3 color; void main() { gl_FragColor = vec4(color, 1.0); }");
        attribute(0, 2, 5, corners);
        attribute(1, 3, 5, corners + 2);
    }
    glClear(GL_COLOR_BUFFER_BIT);
    glDrawArrays(GL_TRIANGLES, 0, 3);
}

static void set_texture(GLenum target, int level, int size)
{
    uint8_t *texels = malloc((size_t)size * size * 4);
    for (int y = 0; y < size; y++)
        for (int x = 0; x < size; x++) {
            uint8_t *texel = texels + 4 * (y * size + x);
            int is_dark = (8 * x / size + 8 * y / size) & 1;
            texel[0] = is_dark ? 40 : 255;
            texel[1] = (uint8_t)(255 * x / size);
            texel[2] = (uint8_t)(255 * y / size);
            texel[3] = 255;
        }
    glTexImage2D(target, level, GL_RGBA, size, size, 0, GL_RGBA, GL_UNSIGNED_BYTE, texels);
    free(texels);
}

/* A turning cube with a texture of all levels and a light. */
static void textured(int frame, int size)
{
    static float corners[36 * 8];
    static GLint matrix_place;
    float matrix[16];
    (void)size;
    if (frame == 0) {
        static const int order[6][2] = { { 0, 0 }, { 1, 0 }, { 1, 1 }, { 0, 0 }, { 1, 1 }, { 0, 1 } };
        float *to = corners;
        for (int side = 0; side < 6; side++)
            for (int corner = 0; corner < 6; corner++, to += 8) {
                int axis = side / 2;
                float sign = side % 2 ? 1 : -1, u = (float)order[corner][0], v = (float)order[corner][1];
                memset(to, 0, 8 * sizeof *to);
                to[axis] = to[3 + axis] = sign;
                to[(axis + 1) % 3] = 2 * u - 1;
                to[(axis + 2) % 3] = 2 * v - 1;
                to[6] = u;
                to[7] = v;
            }
        GLuint program = use(
            "attribute vec3 place, normal; attribute vec2 uv; varying vec3 n; varying vec2 t; uniform mat4 matrix;"
            "void main() { n = normal; t = uv; gl_Position = matrix * vec4(place, 1.0); }",
            "precision mediump float; varying vec3 n; varying vec2 t; uniform sampler2D image;"
            "void main() { float light = 0.3 + 0.7 * max(dot(n, vec3(0.48, 0.6, 0.64)), 0.0);"
            "gl_FragColor = vec4(texture2D(image, t).rgb * light, 1.0); }");
        matrix_place = glGetUniformLocation(program, "matrix");
        GLuint texture;
        glGenTextures(1, &texture);
        glBindTexture(GL_TEXTURE_2D, texture);
        for (int level = 0; level < 7; level++)
            set_texture(GL_TEXTURE_2D, level, 64 >> level);
        glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR_MIPMAP_NEAREST);
        attribute(0, 3, 8, corners);
        attribute(1, 3, 8, corners + 3);
        attribute(2, 2, 8, corners + 6);
        glEnable(GL_DEPTH_TEST);
    }
    camera(matrix, 0.6f, 0.7f + 0.1f * (float)frame, 4);
    glUniformMatrix4fv(matrix_place, 1, GL_FALSE, matrix);
    glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
    glDrawArrays(GL_TRIANGLES, 0, 36);
}

/* Two gears that turn against each other: rims and teeth as flat rings with sides. */
static void gears(int frame, int size)
{
    enum { TEETH = 16, STEPS = 4 * TEETH, VERTICES = STEPS * 18 };
    static float corners[VERTICES * 6];
    static GLint matrix_place, color_place, turn_place, middle_place;
    float matrix[16];
    (void)size;
    if (frame == 0) {
        float *to = corners;
        for (int step = 0; step < STEPS; step++) {
            float turn = 6.2831853f / STEPS, from = (float)step * turn, next = from + turn;
            int is_tooth = step % 4 < 2;
            float outer = is_tooth ? 1.0f : 0.8f, rim = 0.8f, inner = 0.3f, half = 0.15f;
            float a[2] = { cosf(from), sinf(from) }, b[2] = { cosf(next), sinf(next) };
            /* The face within the rim, the face of a tooth (nothing in a gap), the side. */
            float quads[3][4][3] = {
                { { inner * a[0], inner * a[1], half }, { rim * a[0], rim * a[1], half },
                  { rim * b[0], rim * b[1], half }, { inner * b[0], inner * b[1], half } },
                { { rim * a[0], rim * a[1], half }, { outer * a[0], outer * a[1], half },
                  { outer * b[0], outer * b[1], half }, { rim * b[0], rim * b[1], half } },
                { { outer * a[0], outer * a[1], half }, { outer * a[0], outer * a[1], -half },
                  { outer * b[0], outer * b[1], -half }, { outer * b[0], outer * b[1], half } },
            };
            float middle[2] = { cosf(from + turn / 2), sinf(from + turn / 2) };
            float normals[3][3] = { { 0, 0, 1 }, { 0, 0, 1 }, { middle[0], middle[1], 0 } };
            static const int order[6] = { 0, 1, 2, 0, 2, 3 };
            for (int quad = 0; quad < 3; quad++)
                for (int corner = 0; corner < 6; corner++, to += 6) {
                    memcpy(to, quads[quad][order[corner]], 3 * sizeof *to);
                    memcpy(to + 3, normals[quad], 3 * sizeof *to);
                }
        }
        GLuint program = use(
            "attribute vec3 place, normal; varying vec3 shade; uniform mat4 matrix; uniform vec3 color; uniform vec2 turn; uniform vec2 middle;"
            "void main() { mat2 turned = mat2(turn.x, turn.y, -turn.y, turn.x);"
            "vec3 n = vec3(turned * normal.xy, normal.z);"
            "shade = color * (0.2 + 0.8 * max(dot(n, vec3(0.48, 0.6, 0.64)), 0.0));"
            "gl_Position = matrix * vec4(turned * place.xy + middle, place.z, 1.0); }",
            "precision mediump float; varying vec3 shade; void main() { gl_FragColor = vec4(shade, 1.0); }");
        matrix_place = glGetUniformLocation(program, "matrix");
        color_place = glGetUniformLocation(program, "color");
        turn_place = glGetUniformLocation(program, "turn");
        middle_place = glGetUniformLocation(program, "middle");
        attribute(0, 3, 6, corners);
        attribute(1, 3, 6, corners + 3);
        glEnable(GL_DEPTH_TEST);
    }
    glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
    camera(matrix, 0.3f, 0.4f, 4.5f);
    glUniformMatrix4fv(matrix_place, 1, GL_FALSE, matrix);
    for (int gear = 0; gear < 2; gear++) {
        /* The second has its teeth in the gaps of the first. */
        float angle = gear ? 3.1415927f / TEETH - 0.05f * (float)frame : 0.05f * (float)frame;
        glUniform3f(color_place, gear ? 0.2f : 0.9f, gear ? 0.7f : 0.3f, 0.2f);
        glUniform2f(turn_place, cosf(angle), sinf(angle));
        glUniform2f(middle_place, gear ? 0.92f : -0.92f, 0);
        glDrawArrays(GL_TRIANGLES, 0, VERTICES);
    }
}

/* Stencil, a cube map, a loop that ends early, indices, lines, points, scissor: several draws in a frame. */
static void features(int frame, int size)
{
    static const float square[] = { -1, -1, 1, -1, 1, 1, -1, 1 };
    static const uint16_t order[] = { 0, 1, 2, 0, 2, 3 };
    static GLuint fractal, plain;
    static float ring[2 * 32];
    (void)size;
    if (frame == 0) {
        fractal = use("attribute vec2 place; varying vec2 at; void main() { at = place; gl_Position = vec4(0.9 * place, 0.0, 1.0); }",
                      "precision mediump float; varying vec2 at; uniform samplerCube image;"
                      "void main() { vec2 z = at; float turns = 0.0;"
                      "for (int i = 0; i < 10; i++) { if (dot(z, z) > 4.0) break;"
                      "z = vec2(z.x * z.x - z.y * z.y, 2.0 * z.x * z.y) + at; turns += 0.1; }"
                      "gl_FragColor = mix(textureCube(image, vec3(at, 1.0)), vec4(turns, turns * turns, 1.0 - turns, 1.0), 0.5); }");
        GLuint texture;
        glGenTextures(1, &texture);
        glBindTexture(GL_TEXTURE_CUBE_MAP, texture);
        for (int side = 0; side < 6; side++)
            set_texture(GL_TEXTURE_CUBE_MAP_POSITIVE_X + (GLenum)side, 0, 32);
        glTexParameteri(GL_TEXTURE_CUBE_MAP, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
        glTexParameteri(GL_TEXTURE_CUBE_MAP, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
        plain = use("attribute vec2 place; void main() { gl_PointSize = 5.0; gl_Position = vec4(place, 0.0, 1.0); }",
                    "precision mediump float; uniform vec4 color; void main() { gl_FragColor = color; }");
        for (int point = 0; point < 32; point++) {
            ring[2 * point] = 0.7f * cosf((float)point * 6.2831853f / 32);
            ring[2 * point + 1] = 0.7f * sinf((float)point * 6.2831853f / 32);
        }
    }
    GLint color = glGetUniformLocation(plain, "color");
    glClearStencil(0);
    glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT | GL_STENCIL_BUFFER_BIT);
    /* The ring's inside raises the stencil, and the fractal is drawn there alone. */
    glEnable(GL_STENCIL_TEST);
    glColorMask(GL_FALSE, GL_FALSE, GL_FALSE, GL_FALSE);
    glStencilFunc(GL_ALWAYS, 1, 0xff);
    glStencilOp(GL_KEEP, GL_KEEP, GL_REPLACE);
    attribute(0, 2, 2, ring);
    glDrawArrays(GL_TRIANGLE_FAN, 0, 32);
    glColorMask(GL_TRUE, GL_TRUE, GL_TRUE, GL_TRUE);
    glStencilFunc(GL_EQUAL, 1, 0xff);
    glStencilOp(GL_KEEP, GL_KEEP, GL_KEEP);
    glUseProgram(fractal);
    attribute(0, 2, 2, square);
    glDrawElements(GL_TRIANGLES, 6, GL_UNSIGNED_SHORT, order);
    glDisable(GL_STENCIL_TEST);
    glUseProgram(plain);
    attribute(0, 2, 2, ring);
    glUniform4f(color, 1, 1, 0, 1);
    glLineWidth(2);
    glDrawArrays(GL_LINE_LOOP, 0, 32);
    glUniform4f(color, 0, 1, 1, 1);
    glDrawArrays(GL_POINTS, 0, 32);
    glEnable(GL_SCISSOR_TEST);
    glScissor(17, 200, 37, 41);
    glClearColor(1, 0, 0, 1);
    glClear(GL_COLOR_BUFFER_BIT);
    glDisable(GL_SCISSOR_TEST);
    glClearColor(0.1f, 0.1f, 0.2f, 1);
}

/* Small blended rectangles of two triangles each, so many that the binner runs out of memory. Their sides are between pixels, and a pixel on a diagonal has
   the same colour whichever of the two triangles covers it: every renderer draws the same. */
static void many(int frame, int size)
{
    static float *corners;
    int count = (size ? size : 20000) & ~1;
    if (frame == 0) {
        use("attribute vec2 place; attribute vec3 normal; varying vec3 color;"
            "void main() { color = normal; gl_Position = vec4(place, 0.0, 1.0); }",
            "precision mediump float; varying vec3 color; void main() { gl_FragColor = vec4(color, 0.5); }");
        corners = realloc(corners, (size_t)count * 15 * sizeof *corners);
        seed = 1;
        float *to = corners;
        for (int index = 0; index < count; index += 2) {
            int left = (int)(random_number() * WIDTH), low = (int)(random_number() * HEIGHT);
            int right = left + 1 + (int)(7 * random_number()), high = low + 1 + (int)(7 * random_number());
            float color[3] = { random_number(), random_number(), random_number() };
            int places[6][2] = { { left, low }, { right, low }, { right, high }, { left, low }, { right, high }, { left, high } };
            for (int corner = 0; corner < 6; corner++, to += 5) {
                to[0] = (float)places[corner][0] * 2 / WIDTH - 1;
                to[1] = (float)places[corner][1] * 2 / HEIGHT - 1;
                memcpy(to + 2, color, sizeof color);
            }
        }
        attribute(0, 2, 5, corners);
        attribute(1, 3, 5, corners + 2);
        glEnable(GL_BLEND);
        glBlendFunc(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA);
    }
    glClear(GL_COLOR_BUFFER_BIT);
    glDrawArrays(GL_TRIANGLES, 0, 3 * count);
}

static const float SCREEN[] = { -1, -1, 3, -1, -1, 3 };

/* A fragment shader whose loop takes SIZE turns; with 0 it has no end. */
static void hang(int frame, int size)
{
    GLuint program = use("attribute vec2 place; void main() { gl_Position = vec4(place, 0.0, 1.0); }",
                         "precision mediump float; uniform float step;"
                         "void main() { float sum = 0.0; while (sum < 1.0) sum += step; gl_FragColor = vec4(0.0, sum, 0.0, 1.0); }");
    (void)frame;
    glUniform1f(glGetUniformLocation(program, "step"), size ? 1.0f / (float)size : 0.0f);
    attribute(0, 2, 2, SCREEN);
    glClear(GL_COLOR_BUFFER_BIT);
    glDrawArrays(GL_TRIANGLES, 0, 3);
}

/* A triangle that covers the screen, counted by the V3D's performance counters. */
static void counters(int frame, int size)
{
    PFNGLGETPERFMONITORGROUPSAMDPROC get_groups = (PFNGLGETPERFMONITORGROUPSAMDPROC)eglGetProcAddress("glGetPerfMonitorGroupsAMD");
    PFNGLGETPERFMONITORCOUNTERSAMDPROC get_counters = (PFNGLGETPERFMONITORCOUNTERSAMDPROC)eglGetProcAddress("glGetPerfMonitorCountersAMD");
    PFNGLGETPERFMONITORCOUNTERSTRINGAMDPROC get_name = (PFNGLGETPERFMONITORCOUNTERSTRINGAMDPROC)eglGetProcAddress("glGetPerfMonitorCounterStringAMD");
    PFNGLGENPERFMONITORSAMDPROC generate = (PFNGLGENPERFMONITORSAMDPROC)eglGetProcAddress("glGenPerfMonitorsAMD");
    PFNGLSELECTPERFMONITORCOUNTERSAMDPROC select = (PFNGLSELECTPERFMONITORCOUNTERSAMDPROC)eglGetProcAddress("glSelectPerfMonitorCountersAMD");
    PFNGLBEGINPERFMONITORAMDPROC begin = (PFNGLBEGINPERFMONITORAMDPROC)eglGetProcAddress("glBeginPerfMonitorAMD");
    PFNGLENDPERFMONITORAMDPROC end = (PFNGLENDPERFMONITORAMDPROC)eglGetProcAddress("glEndPerfMonitorAMD");
    PFNGLGETPERFMONITORCOUNTERDATAAMDPROC get_data = (PFNGLGETPERFMONITORCOUNTERDATAAMDPROC)eglGetProcAddress("glGetPerfMonitorCounterDataAMD");
    GLint groups = 0, count = 0, most_active = 0;
    GLuint group = 0, all[MOST_COUNTERS];
    (void)frame;
    (void)size;
    if (!get_groups || !strstr((const char *)glGetString(GL_EXTENSIONS), "GL_AMD_performance_monitor"))
        fail("counters", "there is no GL_AMD_performance_monitor");
    get_groups(&groups, 1, &group);
    if (groups < 1)
        fail("counters", "there is no group of counters");
    get_counters(group, &count, &most_active, MOST_COUNTERS, all);
    use("attribute vec2 place; void main() { gl_Position = vec4(place, 0.0, 1.0); }",
        "precision mediump float; void main() { gl_FragColor = vec4(0.0, 0.5, 0.0, 1.0); }");
    attribute(0, 2, 2, SCREEN);
    for (int first = 0; first < count; first += most_active) {
        int active = count - first < most_active ? count - first : most_active;
        GLuint monitor;
        uint32_t data[4 * MOST_COUNTERS];
        GLsizei bytes = 0;
        generate(1, &monitor);
        select(monitor, GL_TRUE, group, active, all + first);
        begin(monitor);
        glClear(GL_COLOR_BUFFER_BIT);
        glDrawArrays(GL_TRIANGLES, 0, 3);
        glFinish();
        end(monitor);
        get_data(monitor, GL_PERFMON_RESULT_AMD, sizeof data, (GLuint *)data, &bytes);
        /* Group, counter and a value of 64 bits for each. */
        for (GLsizei word = 0; word + 4 <= bytes / 4; word += 4) {
            char name[128] = "";
            get_name(data[word], data[word + 1], sizeof name, NULL, name);
            printf("counter %s %llu\n", name, (unsigned long long)data[word + 2] | (unsigned long long)data[word + 3] << 32);
        }
    }
}

static const struct scene {
    const char *name;
    void (*draw)(int frame, int size);
} scenes[] = {
    { "triangle", triangle }, { "textured", textured }, { "gears", gears }, { "features", features },
    { "many", many }, { "hang", hang }, { "counters", counters },
};

/* A multisampled frame buffer object of OpenGL ES 3, which is resolved before it is read; 0: the frame buffer of the surface. */
static GLuint multisampled;
static const GLenum read_target = 0x8ca8, draw_target = 0x8ca9;

/* Makes a multisampled frame buffer object, and has it drawn to. */
static GLuint frame_buffer(int samples)
{
    void (*storage)(GLenum, GLsizei, GLenum, GLsizei, GLsizei) = (void *)eglGetProcAddress("glRenderbufferStorageMultisample");
    GLuint buffer, parts[2];
    glGenFramebuffers(1, &buffer);
    glGenRenderbuffers(2, parts);
    glBindFramebuffer(GL_FRAMEBUFFER, buffer);
    for (int part = 0; part < 2; part++) {
        glBindRenderbuffer(GL_RENDERBUFFER, parts[part]);
        storage(GL_RENDERBUFFER, samples, part ? GL_DEPTH24_STENCIL8_OES : GL_RGBA8_OES, WIDTH, HEIGHT);
    }
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, parts[0]);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT, GL_RENDERBUFFER, parts[1]);
    if (glCheckFramebufferStatus(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE)
        fail("OpenGL ES 3", "it has no multisampled frame buffer");
    return buffer;
}

/* Reads the picture, from the lowest row on. */
static void read_pixels(uint8_t *pixels)
{
    static GLuint resolved, colors;
    if (multisampled) {
        void (*blit)(GLint, GLint, GLint, GLint, GLint, GLint, GLint, GLint, GLbitfield, GLenum) = (void *)eglGetProcAddress("glBlitFramebuffer");
        if (!resolved) {
            glGenFramebuffers(1, &resolved);
            glGenRenderbuffers(1, &colors);
            glBindRenderbuffer(GL_RENDERBUFFER, colors);
            glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8_OES, WIDTH, HEIGHT);
            glBindFramebuffer(draw_target, resolved);
            glFramebufferRenderbuffer(draw_target, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, colors);
        }
        glBindFramebuffer(draw_target, resolved);
        blit(0, 0, WIDTH, HEIGHT, 0, 0, WIDTH, HEIGHT, GL_COLOR_BUFFER_BIT, GL_NEAREST);
        glBindFramebuffer(read_target, resolved);
    }
    glReadPixels(0, 0, WIDTH, HEIGHT, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    glBindFramebuffer(GL_FRAMEBUFFER, multisampled);
}

static void save(const char *scene, int frame)
{
    static uint8_t pixels[WIDTH * HEIGHT * 4];
    char path[512];
    read_pixels(pixels);
    snprintf(path, sizeof path, "%s/%s-%d.ppm", folder, scene, frame);
    FILE *file = fopen(path, "wb");
    if (!file)
        fail("a picture cannot be written", path);
    fprintf(file, "P6\n%d %d\n255\n", WIDTH, HEIGHT);
    for (int y = HEIGHT - 1; y >= 0; y--)
        for (int x = 0; x < WIDTH; x++)
            fwrite(pixels + 4 * (y * WIDTH + x), 1, 3, file);
    if (fclose(file))
        fail("a picture cannot be written", path);
}

static double seconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void run(const char *words)
{
    char name[32] = "";
    int frames = 1, every = 0, size = 0;
    sscanf(words, "%31[^:]:%d:%d:%d", name, &frames, &every, &size);
    for (unsigned number = 0; number < sizeof scenes / sizeof *scenes; number++) {
        if (strcmp(name, scenes[number].name))
            continue;
        fresh_state();
        double start = 0;
        for (int frame = 0; frame < frames; frame++) {
            /* The first compiles shaders. */
            if (frame == 1) {
                glFinish();
                start = seconds();
            }
            scenes[number].draw(frame, size);
            glFlush();
            if (every > 0 && frame % every == 0)
                save(name, frame);
        }
        glFinish();
        if (frames > 1)
            printf("%s: %.1f frames/s\n", name, (frames - 1) / (seconds() - start));
        if (every <= 0)
            save(name, frames - 1);
        GLenum error = glGetError();
        if (error)
            printf("%s: OpenGL error %#x\n", name, error);
        return;
    }
    fail("there is no scene", name);
}

/* Makes a context current whose surface has this number of samples. */
static void make_current(EGLDisplay display, int samples)
{
    const EGLint wanted[] = {
        EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_RENDERABLE_TYPE, EGL_OPENGL_ES2_BIT, EGL_RED_SIZE, 8, EGL_GREEN_SIZE, 8, EGL_BLUE_SIZE, 8,
        EGL_ALPHA_SIZE, 8, EGL_DEPTH_SIZE, 24, EGL_STENCIL_SIZE, 8, EGL_SAMPLES, samples, EGL_NONE,
    };
    const EGLint version[] = { EGL_CONTEXT_CLIENT_VERSION, 2, EGL_NONE };
    const EGLint size[] = { EGL_WIDTH, WIDTH, EGL_HEIGHT, HEIGHT, EGL_NONE };
    EGLConfig config;
    EGLint count = 0;
    if (!eglChooseConfig(display, wanted, &config, 1, &count) || count < 1)
        fail("EGL", "it has no such frame buffer");
    EGLContext context = eglCreateContext(display, config, EGL_NO_CONTEXT, version);
    EGLSurface surface = eglCreatePbufferSurface(display, config, size);
    if (!eglMakeCurrent(display, surface, surface, context))
        fail("EGL", "it has no context");
}

int main(int argc, char **argv)
{
    const char *wanted = getenv("SAMPLES");
    int samples = wanted ? atoi(wanted) : 0;
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc < 3)
        fail("usage", "draw FOLDER SCENE[:FRAMES[:EVERY[:SIZE]]]...");
    folder = argv[1];
    PFNEGLGETPLATFORMDISPLAYEXTPROC get = (PFNEGLGETPLATFORMDISPLAYEXTPROC)eglGetProcAddress("eglGetPlatformDisplayEXT");
    EGLDisplay display = get ? get(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, NULL) : EGL_NO_DISPLAY;
    if (!eglInitialize(display, NULL, NULL))
        fail("EGL", "it has no surfaceless display");
    eglBindAPI(EGL_OPENGL_ES_API);
    make_current(display, 0);
    /* Surfaces with samples come out black on llvmpipe of Mesa 25, which has OpenGL ES 3. */
    if (samples && !strncmp((const char *)glGetString(GL_VERSION), "OpenGL ES 3", 11))
        multisampled = frame_buffer(samples);
    else if (samples)
        make_current(display, samples);
    printf("renderer %s, %s\n", glGetString(GL_RENDERER), glGetString(GL_VERSION));
    for (int word = 2; word < argc; word++)
        run(argv[word]);
    return 0;
}
