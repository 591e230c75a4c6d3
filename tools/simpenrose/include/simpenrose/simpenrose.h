/*
 * A model of the VideoCore IV 3D engine (V3D), for a program that has the V3D's memory as a block of its own.
 *
 * The first five functions are those that the simulator of Mesa's vc4 driver calls. All addresses are byte offsets in the block. The functions may be called
 * by several threads; one job runs at a time. Environment variables, which README.md lists, report faults, capture jobs and count cycles.
 */
#ifndef SIMPENROSE_H
#define SIMPENROSE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Sets the block: `size` bytes, aligned to 4, from address 0 of the V3D on. It must remain until the next call of this function, or until the last call of any. */
void simpenrose_init_hardware_supply_mem(void *mem, uint32_t size);

/* Sets what the binner gets when it runs out of memory. Each job has all of it. */
void simpenrose_supply_overflow_mem(uint32_t addr, uint32_t size);

/* The address of a place in the block; 0 for other places. */
uint32_t simpenrose_hw_addr(void *p);

/* Runs the binning list from `ct0ca` to `ct0ea`. Returns 1 if it has been flushed, otherwise 0: it is stuck, or needs more memory; then the V3D is reset. */
int simpenrose_do_binning(uint32_t ct0ca, uint32_t ct0ea);

/* Runs the rendering list from `ct1ca` to `ct1ea`. Returns 1 if a frame has been rendered, otherwise 0. */
int simpenrose_do_rendering(uint32_t ct1ca, uint32_t ct1ea);

/*
 * Beyond Mesa's interface
 */

/* As simpenrose_hw_addr, and tells the size of the buffer that starts there. Earlier buffers that overlap with it have been freed. Once buffers are known,
 * simpenrose_limit(1) makes every access outside of them and of the overflow memory a fault, as if there were no memory. */
uint32_t simpenrose_buffer(void *p, uint32_t size);
void simpenrose_limit(int enabled);

/* Called after each list for each fault, in the thread that ran the list: the job's number, and the fault in words. NULL: faults are written as lines. */
typedef void simpenrose_fault_fn(void *context, uint32_t job, const char *text);
void simpenrose_on_fault(simpenrose_fault_fn *function, void *context);

/* The number of the job that was started last; the first is 1, and 0 means none. A job is a binning list and the rendering list behind it, or the latter alone. */
uint32_t simpenrose_job(void);

/* Writes the next job to a new folder, which the command `v3d` replays, dumps and explains. */
void simpenrose_capture(const char *folder);

/* A caller that has the size of a buffer at each call of simpenrose_hw_addr defines this as the expression for it. */
#ifdef SIMPENROSE_BUFFER_SIZE
#define simpenrose_hw_addr(p) simpenrose_buffer((p), (SIMPENROSE_BUFFER_SIZE))
#endif

#ifdef __cplusplus
}
#endif

#endif
