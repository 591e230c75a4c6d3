/*
 * Dumb buffers for Mesa's vc4_noop shim, to be loaded before it with LD_PRELOAD.
 *
 * The simulator in Mesa's vc4 driver keeps buffers in a second place, of some other device: dumb buffers, for any device that it does not know. The shim
 * pretends to be a vc4 device, has buffers of vc4's own kind, and no dumb ones. So this turns a request for a dumb buffer into one for vc4's.
 *
 *     cc -O2 -shared -fPIC dumb_buffers.c -o libdumb_buffers.so -ldl $(pkg-config --cflags libdrm)
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <drm.h>
#include <vc4_drm.h>
#include <stdarg.h>
#include <stddef.h>

typedef int ioctl_fn(int, unsigned long, ...);

int ioctl(int fd, unsigned long request, ...)
{
    static ioctl_fn *next;
    va_list arguments;
    va_start(arguments, request);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    if (!next)
        next = (ioctl_fn *)dlsym(RTLD_NEXT, "ioctl");
    if (request == DRM_IOCTL_MODE_CREATE_DUMB) {
        struct drm_mode_create_dumb *dumb = argument;
        dumb->pitch = (dumb->width * dumb->bpp + 7) / 8;
        /* Whole pages, as of every device: the simulator maps as many. */
        dumb->size = ((__u64)dumb->pitch * dumb->height + 4095) & ~(__u64)4095;
        struct drm_vc4_create_bo create = { .size = (__u32)dumb->size };
        int result = next(fd, DRM_IOCTL_VC4_CREATE_BO, &create);
        dumb->handle = create.handle;
        return result;
    }
    if (request == DRM_IOCTL_MODE_MAP_DUMB) {
        struct drm_mode_map_dumb *dumb = argument;
        struct drm_vc4_mmap_bo map = { .handle = dumb->handle };
        int result = next(fd, DRM_IOCTL_VC4_MMAP_BO, &map);
        dumb->offset = map.offset;
        return result;
    }
    return next(fd, request, argument);
}
