/*
 * The scenes that `v3d bench` measures at 640x480, drawn by OpenGL ES 2 without a window: what another renderer needs for the same frames.
 *
 *     cc -O2 frames.c -o frames -lEGL -lGLESv2 -lm
 *     GALLIUM_DRIVER=softpipe LIBGL_ALWAYS_SOFTWARE=1 ./frames gears_640 5
 *
 * prints frames a second. Each frame is the one in the job folder of that name, cleared, drawn and waited for. With a further argument FILE.pam, the last
 * frame is written to that file, with its alpha.
 */
#define GL_GLEXT_PROTOTYPES
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GLES2/gl2.h>
#include <GLES2/gl2ext.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WIDTH = 640, HEIGHT = 480, MOST_VERTICES = 8192, MOST_INDICES = 8192 };

static const float TURN = 6.2831853f;

/* The corners of a quad's two triangles. */
static const int QUAD_CORNERS[6] = { 0, 1, 2, 0, 2, 3 };

struct vertex {
    float position[3], normal[3], uv[2];
};

static struct vertex vertices[MOST_VERTICES];
static uint16_t indices[MOST_INDICES];
static int vertex_count, index_count;
static GLuint program;

static void fail(const char *what)
{
    fprintf(stderr, "frames: %s\n", what);
    exit(1);
}

/* Matrices are in columns, as OpenGL has them. */

static void multiply(float *to, const float *a, const float *b)
{
    float product[16];
    for (int column = 0; column < 4; column++)
        for (int row = 0; row < 4; row++) {
            product[4 * column + row] = 0;
            for (int k = 0; k < 4; k++)
                product[4 * column + row] += a[4 * k + row] * b[4 * column + k];
        }
    memcpy(to, product, sizeof product);
}

static void identity(float *m)
{
    memset(m, 0, 64);
    m[0] = m[5] = m[10] = m[15] = 1;
}

static void rotate(float *m, float degrees, int axis)
{
    float r[16], c = cosf(degrees * TURN / 360), s = sinf(degrees * TURN / 360);
    int i = (axis + 1) % 3, j = (axis + 2) % 3;
    identity(r);
    r[5 * i] = r[5 * j] = c;
    r[4 * i + j] = s;
    r[4 * j + i] = -s;
    multiply(m, m, r);
}

static void translate(float *m, float x, float y, float z)
{
    float t[16];
    identity(t);
    t[12] = x, t[13] = y, t[14] = z;
    multiply(m, m, t);
}

static void frustum(float *m, float near, float far)
{
    memset(m, 0, 64);
    m[0] = near;
    m[5] = near * WIDTH / HEIGHT;
    m[10] = -(far + near) / (far - near);
    m[11] = -1;
    m[14] = -2 * far * near / (far - near);
}

static void set_matrices(const float *projection, const float *model_view)
{
    float both[16];
    multiply(both, projection, model_view);
    glUniformMatrix4fv(glGetUniformLocation(program, "mv"), 1, GL_FALSE, model_view);
    glUniformMatrix4fv(glGetUniformLocation(program, "mvp"), 1, GL_FALSE, both);
}

static GLuint shader(GLenum type, const char *source)
{
    GLint ok;
    GLuint name = glCreateShader(type);
    glShaderSource(name, 1, &source, NULL);
    glCompileShader(name);
    glGetShaderiv(name, GL_COMPILE_STATUS, &ok);
    if (!ok)
        fail("a shader is not understood");
    return name;
}

static void use_program(const char *vertex, const char *fragment)
{
    GLint ok;
    program = glCreateProgram();
    glAttachShader(program, shader(GL_VERTEX_SHADER, vertex));
    glAttachShader(program, shader(GL_FRAGMENT_SHADER, fragment));
    glLinkProgram(program);
    glGetProgramiv(program, GL_LINK_STATUS, &ok);
    if (!ok)
        fail("the shaders do not fit together");
    glUseProgram(program);
}

static void attribute(const char *name, int components, size_t offset)
{
    GLint location = glGetAttribLocation(program, name);
    if (location < 0)
        return;
    glEnableVertexAttribArray(location);
    glVertexAttribPointer(location, components, GL_FLOAT, GL_FALSE, sizeof(struct vertex), (void *)offset);
}

static void upload(void)
{
    GLuint buffers[2];
    glGenBuffers(2, buffers);
    glBindBuffer(GL_ARRAY_BUFFER, buffers[0]);
    glBufferData(GL_ARRAY_BUFFER, vertex_count * sizeof *vertices, vertices, GL_STATIC_DRAW);
    glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, buffers[1]);
    glBufferData(GL_ELEMENT_ARRAY_BUFFER, index_count * sizeof *indices, indices, GL_STATIC_DRAW);
    attribute("a_pos", 3, offsetof(struct vertex, position));
    attribute("a_nrm", 3, offsetof(struct vertex, normal));
    attribute("a_uv", 2, offsetof(struct vertex, uv));
}

/* Two triangles with one normal at the first two corners and another at the last two. */
static void quad(float corners[4][3], float ax, float ay, float az, float bx, float by)
{
    for (int i = 0; i < 6; i++) {
        int first = QUAD_CORNERS[i] < 2;
        struct vertex v = { .normal = { first ? ax : bx, first ? ay : by, az } };
        memcpy(v.position, corners[QUAD_CORNERS[i]], sizeof v.position);
        vertices[vertex_count++] = v;
    }
}

static void gear(float inner, float outer, float width, int teeth, float depth)
{
    float low = outer - depth / 2, high = outer + depth / 2, h = width / 2;
    float outline[5] = { low, high, high, low, low };
    for (int i = 0; i < 4 * teeth; i++) {
        float a0 = TURN * i / (4 * teeth), a1 = TURN * (i + 1) / (4 * teeth);
        float c0 = cosf(a0), s0 = sinf(a0), c1 = cosf(a1), s1 = sinf(a1);
        float r0 = outline[i % 4], r1 = outline[i % 4 + 1];
        for (int side = -1; side <= 1; side += 2) {
            float z = h * side;
            float face[4][3] = {
                { inner * c0, inner * s0, z }, { r0 * c0, r0 * s0, z }, { r1 * c1, r1 * s1, z }, { inner * c1, inner * s1, z },
            };
            quad(face, 0, 0, side, 0, 0);
        }
        float dx = r1 * c1 - r0 * c0, dy = r1 * s1 - r0 * s0, length = hypotf(dx, dy);
        float rim[4][3] = { { r0 * c0, r0 * s0, -h }, { r0 * c0, r0 * s0, h }, { r1 * c1, r1 * s1, h }, { r1 * c1, r1 * s1, -h } };
        quad(rim, dy / length, -dx / length, 0, dy / length, -dx / length);
        float hole[4][3] = {
            { inner * c0, inner * s0, -h }, { inner * c0, inner * s0, h }, { inner * c1, inner * s1, h }, { inner * c1, inner * s1, -h },
        };
        quad(hole, -c0, -s0, 0, -c1, -s1);
    }
}

static const char GEARS_VERTEX[] =
    "attribute vec3 a_pos; attribute vec3 a_nrm; uniform mat4 mvp; uniform mat4 mv; varying vec3 v_n; varying vec3 v_p;"
    "void main() {"
    "  vec4 p = mv * vec4(a_pos, 1.0);"
    "  v_p = p.xyz;"
    "  v_n = (mv * vec4(a_nrm, 0.0)).xyz;"
    "  gl_Position = mvp * vec4(a_pos, 1.0);"
    "}";
static const char GEARS_FRAGMENT[] =
    "precision highp float; uniform vec4 col; varying vec3 v_n; varying vec3 v_p;"
    "void main() {"
    "  vec3 n = normalize(v_n);"
    "  vec3 l = normalize(vec3(5.0, 5.0, 10.0) - v_p * 0.1);"
    "  float d = max(dot(n, l), 0.0);"
    "  vec3 h = normalize(l + normalize(-v_p));"
    "  float s = pow(max(dot(n, h), 0.0), 24.0);"
    "  gl_FragColor = vec4(col.rgb * (0.2 + 0.8 * d) + vec3(0.4 * s), 1.0);"
    "}";

static int gear_ends[4];

static void prepare_gears(void)
{
    use_program(GEARS_VERTEX, GEARS_FRAGMENT);
    gear(1, 4, 1, 20, 0.7f);
    gear_ends[1] = vertex_count;
    gear(0.5f, 2, 2, 10, 0.7f);
    gear_ends[2] = vertex_count;
    gear(1.3f, 2, 0.5f, 10, 0.7f);
    gear_ends[3] = vertex_count;
    upload();
}

static void draw_gears(void)
{
    static const float places[3][3] = { { -3, -2, 0 }, { 3.1f, -2, 0 }, { -3.1f, 4.2f, 0 } };
    static const float angles[3] = { 25, -59, -75 };
    static const float colors[3][4] = { { 0.8f, 0.1f, 0, 1 }, { 0, 0.8f, 0.2f, 1 }, { 0.2f, 0.2f, 1, 1 } };
    float projection[16], model_view[16];
    frustum(projection, 5, 60);
    for (int i = 0; i < 3; i++) {
        identity(model_view);
        translate(model_view, 0, 0, -40);
        rotate(model_view, 20, 0);
        rotate(model_view, 30, 1);
        translate(model_view, places[i][0], places[i][1], places[i][2]);
        rotate(model_view, angles[i], 2);
        set_matrices(projection, model_view);
        glUniform4fv(glGetUniformLocation(program, "col"), 1, colors[i]);
        glDrawArrays(GL_TRIANGLES, gear_ends[i], gear_ends[i + 1] - gear_ends[i]);
    }
}

static const char LIT_VERTEX[] =
    "attribute vec3 a_pos; attribute vec3 a_nrm; attribute vec2 a_uv; uniform mat4 mvp; uniform mat4 mv;"
    "varying vec3 v_n; varying vec3 v_p; varying vec2 v_uv;"
    "void main() {"
    "  v_uv = a_uv;"
    "  v_p = (mv * vec4(a_pos, 1.0)).xyz;"
    "  v_n = (mv * vec4(a_nrm, 0.0)).xyz;"
    "  gl_Position = mvp * vec4(a_pos, 1.0);"
    "}";
static const char LIT_FRAGMENT[] =
    "precision highp float; uniform sampler2D tex; uniform vec3 light[3]; varying vec3 v_n; varying vec3 v_p; varying vec2 v_uv;"
    "void main() {"
    "  vec3 n = normalize(v_n), e = normalize(-v_p);"
    "  vec3 base = texture2D(tex, v_uv).rgb, c = base * 0.1;"
    "  for (int i = 0; i < 3; i++) {"
    "    vec3 l = light[i] - v_p;"
    "    float a = 1.0 / (1.0 + 0.1 * dot(l, l));"
    "    l = normalize(l);"
    "    c += base * max(dot(n, l), 0.0) * a * 1.5;"
    "    c += vec3(pow(max(dot(n, normalize(l + e)), 0.0), 32.0)) * a;"
    "  }"
    "  gl_FragColor = vec4(c, 1.0);"
    "}";

/* All levels of a texture, each with its own stripes. */
static void texture(void)
{
    GLuint name;
    static uint8_t texels[64 * 64][4];
    glGenTextures(1, &name);
    glBindTexture(GL_TEXTURE_2D, name);
    for (int level = 0, size = 64; size > 0; level++, size /= 2) {
        for (int i = 0; i < size * size; i++) {
            int x = i % size, y = i / size, odd = (x / 4 ^ y / 4) & 1;
            texels[i][0] = odd ? 255 - 255 * x / size : 40 * (level % 4);
            texels[i][1] = 255 * y / size;
            texels[i][2] = odd ? 60 : 200 - 20 * (level % 4);
            texels[i][3] = 128 + 127 * x / size;
        }
        glTexImage2D(GL_TEXTURE_2D, level, GL_RGBA, size, size, 0, GL_RGBA, GL_UNSIGNED_BYTE, texels);
    }
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR_MIPMAP_LINEAR);
}

static void prepare_lit_textured(void)
{
    enum { AROUND = 48, ACROSS = 24 };
    static const float lights[9] = { 2, 2, -1, -2, 1, -1.5f, 0, -2, -1 };
    use_program(LIT_VERTEX, LIT_FRAGMENT);
    for (int i = 0; i <= AROUND; i++)
        for (int j = 0; j <= ACROSS; j++) {
            float a = i * TURN / AROUND, b = j * TURN / ACROSS, r = 1 + 0.45f * cosf(b);
            vertices[vertex_count++] = (struct vertex) {
                .position = { r * cosf(a), r * sinf(a), 0.45f * sinf(b) },
                .normal = { cosf(b) * cosf(a), cosf(b) * sinf(a), sinf(b) },
                .uv = { 6.f * i / AROUND, 3.f * j / ACROSS },
            };
        }
    for (int i = 0; i < AROUND; i++)
        for (int j = 0; j < ACROSS; j++) {
            int a = i * (ACROSS + 1) + j, b = a + ACROSS + 1;
            uint16_t six[6] = { a, b, a + 1, a + 1, b, b + 1 };
            memcpy(indices + index_count, six, sizeof six);
            index_count += 6;
        }
    upload();
    texture();
    glUniform3fv(glGetUniformLocation(program, "light"), 3, lights);
}

static void draw_lit_textured(void)
{
    float projection[16], model_view[16];
    frustum(projection, 1.5f, 20);
    identity(model_view);
    translate(model_view, 0, 0, -3.2f);
    rotate(model_view, -40, 0);
    rotate(model_view, 20, 1);
    set_matrices(projection, model_view);
    glDrawElements(GL_TRIANGLES, index_count, GL_UNSIGNED_SHORT, 0);
}

/* Quads parallel to the screen, that cover all of it or nearly: each a little smaller, turned and nearer than the one before. */
static void layers(int count, float shrink, float degrees)
{
    static const float corners[4][2] = { { -1, -1 }, { 1, -1 }, { 1, 1 }, { -1, 1 } };
    for (int layer = 0; layer < count; layer++) {
        float turn = layer * degrees * TURN / 360, c = cosf(turn), s = sinf(turn), size = 1.4f - shrink * layer;
        for (int i = 0; i < 6; i++) {
            const float *corner = corners[QUAD_CORNERS[i]];
            vertices[vertex_count++] = (struct vertex) {
                .position = { size * (c * corner[0] - s * corner[1]), size * (s * corner[0] + c * corner[1]), 0.9f - 1.8f * layer / count },
                .normal = { 0.5f + 0.5f * corner[0], 0.5f + 0.5f * corner[1], (float)layer / count },
                .uv = { 2 * corner[0], 2 * corner[1] },
            };
        }
    }
}

static const char LAYER_VERTEX[] =
    "attribute vec3 a_pos; attribute vec3 a_nrm; attribute vec2 a_uv; varying vec3 v_color; varying vec2 v_uv;"
    "void main() {"
    "  v_color = a_nrm;"
    "  v_uv = a_uv;"
    "  gl_Position = vec4(a_pos, 1.0);"
    "}";

static void draw_all(void)
{
    glDrawArrays(GL_TRIANGLES, 0, vertex_count);
}

/* Overdraw: 32 translucent layers with a texture, blended one after the other. */
static void prepare_overdraw(void)
{
    static const char fragment[] =
        "precision mediump float; uniform sampler2D tex; varying vec3 v_color; varying vec2 v_uv;"
        "void main() { gl_FragColor = vec4(v_color, 0.15) * texture2D(tex, v_uv); }";
    use_program(LAYER_VERTEX, fragment);
    layers(32, 0.015f, 7);
    upload();
    texture();
    glDisable(GL_DEPTH_TEST);
    glEnable(GL_BLEND);
    glBlendFunc(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA);
}

/* Big triangles: 64 opaque layers from back to front, each with a depth test that it passes, and nothing but a colour to interpolate. */
static void prepare_big_triangles(void)
{
    static const char fragment[] =
        "precision mediump float; varying vec3 v_color; varying vec2 v_uv;"
        "void main() { gl_FragColor = vec4(v_color, 1.0); }";
    use_program(LAYER_VERTEX, fragment);
    layers(64, 0.008f, 5);
    upload();
}

/* A heavy fragment program: five octaves of value noise, and a highlight, in one quad. */
static void prepare_heavy_fragments(void)
{
    static const char fragment[] =
        "precision highp float; varying vec3 v_color; varying vec2 v_uv;"
        "float hash(vec2 p) { return fract(p.x * p.y * (p.x + 0.37 * p.y)); }"
        "float corner(vec2 p) { return hash(fract(p * vec2(0.3183, 0.3679)) * 5.0); }"
        "float noise(vec2 p) {"
        "  vec2 i = floor(p), f = fract(p), u = f * f * (3.0 - 2.0 * f);"
        "  float lower = mix(corner(i), corner(i + vec2(1.0, 0.0)), u.x);"
        "  float upper = mix(corner(i + vec2(0.0, 1.0)), corner(i + vec2(1.0, 1.0)), u.x);"
        "  return mix(lower, upper, u.y);"
        "}"
        "void main() {"
        "  vec2 p = 3.0 * v_uv + 9.0;"
        "  float sum = 0.0, share = 0.5;"
        "  for (int i = 0; i < 5; i++) {"
        "    sum += share * noise(p);"
        "    p = vec2(1.6 * p.x + 1.2 * p.y, 1.6 * p.y - 1.2 * p.x) + 5.0;"
        "    share *= 0.5;"
        "  }"
        "  vec3 n = normalize(vec3(sum - 0.5, v_uv * 0.2));"
        "  float glow = pow(max(dot(n, normalize(vec3(1.0, v_color.xy))), 0.0), 8.0);"
        "  gl_FragColor = vec4(0.5 + 0.5 * sin(6.0 * sum + vec3(0.0, 2.0, 4.0)) * (0.4 + glow), 1.0);"
        "}";
    use_program(LAYER_VERTEX, fragment);
    layers(1, 0, 0);
    upload();
}

static const struct scene {
    const char *name;
    void (*prepare)(void), (*draw)(void);
} SCENES[] = {
    { "gears_640", prepare_gears, draw_gears },
    { "lit_textured_640", prepare_lit_textured, draw_lit_textured },
    { "overdraw_640", prepare_overdraw, draw_all },
    { "big_triangles_640", prepare_big_triangles, draw_all },
    { "heavy_fragments_640", prepare_heavy_fragments, draw_all },
};

/* Writes the frame, its top row first. */
static void save(const char *file)
{
    static uint8_t pixels[HEIGHT][WIDTH][4];
    glReadPixels(0, 0, WIDTH, HEIGHT, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    FILE *to = fopen(file, "wb");
    if (!to)
        fail("the picture cannot be written");
    fprintf(to, "P7\nWIDTH %d\nHEIGHT %d\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\n", WIDTH, HEIGHT);
    for (int y = HEIGHT - 1; y >= 0; y--)
        fwrite(pixels[y], 4, WIDTH, to);
    if (fclose(to))
        fail("the picture cannot be written");
}

/* A context without a window, and a frame buffer with depth. */
static void start(void)
{
    EGLint count, config_wishes[] = { EGL_SURFACE_TYPE, 0, EGL_RENDERABLE_TYPE, EGL_OPENGL_ES2_BIT, EGL_NONE };
    EGLint context_wishes[] = { EGL_CONTEXT_CLIENT_VERSION, 2, EGL_NONE };
    EGLConfig config;
    GLuint frame_buffer, buffers[2];
    PFNEGLGETPLATFORMDISPLAYEXTPROC display_of = (PFNEGLGETPLATFORMDISPLAYEXTPROC)eglGetProcAddress("eglGetPlatformDisplayEXT");
    EGLDisplay display = display_of ? display_of(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, NULL) : EGL_NO_DISPLAY;
    if (!eglInitialize(display, NULL, NULL) || !eglChooseConfig(display, config_wishes, &config, 1, &count) || count < 1)
        fail("there is no EGL without a window");
    eglBindAPI(EGL_OPENGL_ES_API);
    if (!eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, eglCreateContext(display, config, EGL_NO_CONTEXT, context_wishes)))
        fail("there is no OpenGL ES 2");
    glGenFramebuffers(1, &frame_buffer);
    glGenRenderbuffers(2, buffers);
    glBindFramebuffer(GL_FRAMEBUFFER, frame_buffer);
    glBindRenderbuffer(GL_RENDERBUFFER, buffers[0]);
    glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8_OES, WIDTH, HEIGHT);
    glBindRenderbuffer(GL_RENDERBUFFER, buffers[1]);
    glRenderbufferStorage(GL_RENDERBUFFER, GL_DEPTH24_STENCIL8_OES, WIDTH, HEIGHT);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, buffers[0]);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT, GL_RENDERBUFFER, buffers[1]);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_STENCIL_ATTACHMENT, GL_RENDERBUFFER, buffers[1]);
    if (glCheckFramebufferStatus(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE)
        fail("there is no frame buffer");
    glViewport(0, 0, WIDTH, HEIGHT);
    glEnable(GL_DEPTH_TEST);
    glEnable(GL_CULL_FACE);
    glClearColor(0.1f, 0.15f, 0.2f, 1);
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec + now.tv_nsec * 1e-9;
}

static void usage(void)
{
    fprintf(stderr, "frames: arguments: a scene, for how many seconds to draw it, and a file for the picture if one is wanted. Scenes:");
    for (size_t i = 0; i < sizeof SCENES / sizeof *SCENES; i++)
        fprintf(stderr, " %s", SCENES[i].name);
    fputc('\n', stderr);
    exit(1);
}

int main(int argc, char **argv)
{
    const struct scene *scene = NULL;
    for (size_t i = 0; (argc == 3 || argc == 4) && i < sizeof SCENES / sizeof *SCENES; i++)
        if (!strcmp(SCENES[i].name, argv[1]))
            scene = &SCENES[i];
    if (!scene)
        usage();
    start();
    scene->prepare();
    double begin = 0, end = 0;
    int frames = -1; /* the first frame compiles shaders */
    do {
        glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT | GL_STENCIL_BUFFER_BIT);
        scene->draw();
        glFinish();
        frames++;
        end = seconds();
        if (frames == 0)
            begin = end;
    } while (frames < 1 || end - begin < atof(argv[2]));
    if (argc == 4)
        save(argv[3]);
    printf("%.2f\n", frames / (end - begin));
    return 0;
}
