/*
 * Plays the part of Mesa's vc4 simulator: owns the memory, gives it buffer objects with a mark behind each, copies a job into them and runs its lists.
 *
 *     mesa_part IMAGE JOB RESULT CAPTURE
 *
 * IMAGE has the bytes of the job's memory from 0 on. JOB has a word and two numbers a line: `bin`, `render` (a list's start and end), `overflow`, `color`,
 * `buffer` (address and size). The memory after the job is written to RESULT, and a captured job to the new folder CAPTURE. Prints what is wrong; exits with
 * 1 then.
 */
#include <simpenrose/simpenrose.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_BYTES = 64 << 20, MOST_BUFFERS = 32 };

#define MARK 0xfedcba98u

struct range {
    unsigned first, second;
};

static unsigned char *block;
static unsigned char *image;
static long image_bytes;
static struct range bin, render, overflow, color, buffers[MOST_BUFFERS];
static int buffer_count, failures;
static int fault_count;
static unsigned fault_job;
static char first_fault[256];
static int context;

static void expect(int holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "mesa_part: %s\n", what);
        failures++;
    }
}

static void on_fault(void *given, uint32_t job, const char *text)
{
    expect(given == &context, "the context is another one");
    expect(simpenrose_job() == job, "the fault is of another job, or the library cannot be called from here");
    if (fault_count++ == 0)
        strncpy(first_fault, text, sizeof first_fault - 1);
    fault_job = job;
}

static void *read_file(const char *name, long *bytes)
{
    FILE *file = fopen(name, "rb");
    if (!file || fseek(file, 0, SEEK_END) || (*bytes = ftell(file)) <= 0 || fseek(file, 0, SEEK_SET)) {
        fprintf(stderr, "mesa_part: cannot read %s\n", name);
        exit(1);
    }
    void *contents = malloc((size_t)*bytes);
    if (!contents || fread(contents, 1, (size_t)*bytes, file) != (size_t)*bytes)
        exit(1);
    fclose(file);
    return contents;
}

static void read_job(const char *name)
{
    char word[16];
    struct range range;
    FILE *file = fopen(name, "r");
    while (file && fscanf(file, "%15s %u %u", word, &range.first, &range.second) == 3) {
        if (!strcmp(word, "bin"))
            bin = range;
        else if (!strcmp(word, "render"))
            render = range;
        else if (!strcmp(word, "overflow"))
            overflow = range;
        else if (!strcmp(word, "color"))
            color = range;
        else if (!strcmp(word, "buffer") && buffer_count < MOST_BUFFERS)
            buffers[buffer_count++] = range;
    }
    if (file)
        fclose(file);
}

/* Whether the word behind a buffer belongs to no other one. */
static int has_mark(int number)
{
    uint32_t end = buffers[number].first + buffers[number].second;
    for (int i = 0; i < buffer_count; i++)
        if (end + sizeof(uint32_t) > buffers[i].first && end < buffers[i].first + buffers[i].second)
            return 0;
    return !(end + sizeof(uint32_t) > overflow.first && end < overflow.first + overflow.second);
}

/* As Mesa does before each job: all buffers are copied into the block. */
static void copy_in(void)
{
    memcpy(block, image, (size_t)image_bytes);
    for (int i = 0; i < buffer_count; i++) {
        uint32_t mark = MARK;
        if (has_mark(i))
            memcpy(block + buffers[i].first + buffers[i].second, &mark, sizeof mark);
    }
}

static void check_marks(void)
{
    for (int i = 0; i < buffer_count; i++) {
        uint32_t mark = MARK;
        if (has_mark(i))
            memcpy(&mark, block + buffers[i].first + buffers[i].second, sizeof mark);
        expect(mark == MARK, "a buffer's end is overwritten");
    }
}

static int run(void)
{
    fault_count = 0;
    copy_in();
    int flushes = simpenrose_do_binning(bin.first, bin.second);
    int frames = simpenrose_do_rendering(render.first, render.second);
    check_marks();
    return flushes == 1 && frames == 1;
}

/* Tells the library the buffers; the one at `without` is left out, as if it had never been allocated. */
static void tell_buffers(unsigned without)
{
    simpenrose_buffer(block, BLOCK_BYTES);
    simpenrose_buffer(block, 4096);
    for (int i = 0; i < buffer_count; i++) {
        unsigned at = buffers[i].first;
        if (at != without)
            expect(simpenrose_buffer(block + at, buffers[i].second) == at, "a buffer is at another address");
    }
}

int main(int argc, char **argv)
{
    if (argc != 5)
        return 2;
    image = read_file(argv[1], &image_bytes);
    read_job(argv[2]);
    expect(buffer_count > 3 && color.first != 0, "the job is not understood");

    /* Without memory nothing runs. */
    expect(simpenrose_hw_addr(&context) == 0, "there is an address without memory");
    expect(simpenrose_do_rendering(0, 0) == 0, "a list runs without memory");
    simpenrose_init_hardware_supply_mem(NULL, 4096);
    expect(simpenrose_do_binning(4096, 8192) == 0, "a list runs in no memory");

    block = calloc(1, BLOCK_BYTES);
    simpenrose_on_fault(on_fault, &context);
    simpenrose_init_hardware_supply_mem(block, BLOCK_BYTES);
    simpenrose_supply_overflow_mem(overflow.first, overflow.second);
    expect(simpenrose_hw_addr(block) == 0 && simpenrose_hw_addr(block + 8192) == 8192, "an address is wrong");
    expect(simpenrose_hw_addr(block + BLOCK_BYTES) == 0 && simpenrose_hw_addr(&context) == 0, "a place outside has an address");
    expect(simpenrose_job() == 0, "a job has run");

    expect(run(), "the job does not end");
    expect(fault_count == 0, "the job has faults");
    expect(simpenrose_job() == 1, "it is not job 1");
    FILE *result = fopen(argv[3], "wb");
    expect(result && fwrite(block, 1, (size_t)image_bytes, result) == (size_t)image_bytes && !fclose(result), "no result");

    /* Inside of the buffers nothing changes. */
    tell_buffers(0);
    simpenrose_limit(1);
    if (!run() || fault_count != 0 || simpenrose_job() != 2)
        expect(0, fault_count ? first_fault : "a job within its buffers does not end");

    /* A store to a buffer that was freed. */
    tell_buffers(color.first);
    run();
    expect(fault_count > 0 && fault_job == 3 && strstr(first_fault, "outside of memory") != NULL, "a stray store is not caught");
    int untouched = 1;
    for (unsigned i = 0; i < color.second; i++)
        untouched &= block[color.first + i] == image[color.first + i];
    expect(untouched, "a stray store has reached memory");
    simpenrose_limit(0);

    /* A list that does not end is told, and the next job runs. */
    fault_count = 0;
    expect(simpenrose_do_binning(bin.first, bin.first) == 0 && fault_count == 1, "an empty list is done");
    expect(strstr(first_fault, "stands still") != NULL || fault_count == 1, "it is not told why");
    simpenrose_capture(argv[4]);
    expect(run() && fault_count == 0 && simpenrose_job() == 5, "a job after a stuck one does not end");
    simpenrose_on_fault(NULL, NULL);
    return failures != 0;
}
