//! QEMU's window: the console of its framebuffer device shows the display's picture, once the guest has one.
//!
//! QEMU's Raspberry Pi machines have a console that belongs to `bcm2835-fb`, and shows the firmware's framebuffer. Its functions are replaced by this module's
//! when the guest takes the display over, as it replaces the firmware's picture on a board; so every window, VNC and `screendump` show it. They are put back
//! when the machine is reset.
//!
//! QEMU has a function that sets them and none that returns them. They stand in the console's own structure, next to each other with their device: this
//! place is found by what that function changes there, and whether they are what `bcm2835-fb` has shows whether the layout is the known one.
//!
//! The picture is put together when a console asks for it, into a buffer that QEMU reads. What the guest draws is not watched: rows that differ from those
//! of the last time are redrawn.
//!
//! # Sources
//! QEMU 7.2 and 10.0: `include/ui/console.h`, `include/ui/surface.h`, `ui/console.c`, `hw/display/bcm2835_fb.c` (an `invalidate`, a `gfx_update` and no other
//! functions). QEMU 11: its `ui/console.c`, where some functions have other names, and `gfx_update` returns whether it has finished.

use super::display::with_screen;
use super::functions::{Qemu, address_of};
use std::ffi::{CStr, c_int, c_void};
use std::mem;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicU32, Ordering};

/// `PIXMAN_x8r8g8b8`: 0x00RRGGBB in the host's order.
const PIXEL_FORMAT: c_int = 0x2002_0888;
/// The most pixels that the HVS' registers can say: 12 bits each for width and height.
const MOST_PIXELS: usize = 4096 * 4096;
/// Words of a console's structure at most: it has some 40.
const MOST_CONSOLE_WORDS: usize = 512;

/// `GraphicHwOps`, and some room for members that may be added: all of them may be null.
#[repr(C)]
struct GraphicHwOps {
    get_flags: *const c_void,
    invalidate: extern "C" fn(*mut c_void),
    gfx_update: extern "C" fn(*mut c_void) -> bool,
    others: [*const c_void; 13],
}

// SAFETY: never written; its pointers are null or functions.
unsafe impl Sync for GraphicHwOps {}

static OPS: GraphicHwOps = GraphicHwOps { get_flags: ptr::null(), invalidate, gfx_update, others: [ptr::null(); 13] };

/// What a console is told to hand to its functions: an address that no other has.
static MARK: u8 = 0;

unsafe extern "C" {
    /// `malloc.h`: bytes of a block of the heap.
    fn malloc_usable_size(block: *mut c_void) -> usize;
}

/// Declares QEMU's functions for consoles, and looks them up by their names, of which newer versions have others.
macro_rules! console_functions {
    ($($field:ident $names:expr, $type:ty;)*) => {
        /// QEMU's functions for consoles.
        #[derive(Clone, Copy)]
        pub(super) struct Console {
            $($field: $type,)*
        }

        impl Console {
            /// Looks up all functions; the error is a sentence about a missing one.
            pub(super) fn find() -> Result<Self, String> {
                Ok(Self {
                    $(
                        // SAFETY: not null, and QEMU's function of these names has this type from QEMU 7.2 to 11.1 (see the sources above).
                        $field: unsafe { mem::transmute::<*mut c_void, $type>(named(&$names)?) },
                    )*
                })
            }
        }
    };
}

console_functions! {
    lookup_by_device [c"qemu_console_lookup_by_device"], unsafe extern "C" fn(*mut c_void, u32) -> *mut c_void;
    width [c"qemu_console_get_width"], unsafe extern "C" fn(*mut c_void, c_int) -> c_int;
    height [c"qemu_console_get_height"], unsafe extern "C" fn(*mut c_void, c_int) -> c_int;
    resize [c"qemu_console_resize"], unsafe extern "C" fn(*mut c_void, c_int, c_int);
    // Width, height, format, bytes of a row, pixels.
    create_surface [c"qemu_create_displaysurface_from"],
        unsafe extern "C" fn(c_int, c_int, c_int, c_int, *mut u8) -> *mut c_void;
    set_hwops [c"graphic_console_set_hwops", c"qemu_graphic_console_set_hwops"],
        unsafe extern "C" fn(*mut c_void, *const c_void, *mut c_void);
    set_surface [c"dpy_gfx_replace_surface", c"qemu_console_set_surface"], unsafe extern "C" fn(*mut c_void, *mut c_void);
    update [c"dpy_gfx_update", c"qemu_console_update"], unsafe extern "C" fn(*mut c_void, c_int, c_int, c_int, c_int);
}

/// The first of these names that QEMU exports.
fn named(names: &[&CStr]) -> Result<*mut c_void, String> {
    let found = names.iter().find_map(|name| address_of(name));
    found.ok_or_else(|| format!("it exports no {}", names[0].to_string_lossy()))
}

impl Console {
    /// Takes the console of QEMU's framebuffer device over, under the big lock. The error is a sentence.
    pub(super) fn take(self, qemu: &Qemu) -> Result<Screen, String> {
        let device = NonNull::new(qemu.object(c"bcm2835-fb")).ok_or("this machine has no bcm2835-fb")?;
        // SAFETY: the object is a device; consoles exist since the machine does.
        let console = unsafe { (self.lookup_by_device)(device.as_ptr(), 0) };
        let console = NonNull::new(console).ok_or("its bcm2835-fb has no console")?;
        let before = words(console);
        let (ops, mark) = (&raw const OPS, &raw const MARK);
        // SAFETY: the console is QEMU's; the structure is laid out as QEMU's own or has null beyond its members, and lives as long as the library.
        let set = |ops: *const c_void, opaque: *mut c_void| unsafe { (self.set_hwops)(console.as_ptr(), ops, opaque) };
        set(ops.cast(), mark.cast_mut().cast());
        let after = words(console);
        let place = after.windows(2).position(|pair| pair == [ops.addr(), mark.addr()]);
        let (own_ops, opaque) = match place.map(|place| (before[place], before[place + 1])) {
            Some((own_ops, opaque)) if opaque == device.as_ptr().addr() => (own_ops, opaque),
            // Nothing is known of what the console had, so it stays without a picture.
            _ => return Err("it lays consoles out in a way that the plugin does not know".to_owned()),
        };
        let own_ops = ptr::with_exposed_provenance::<[usize; 6]>(own_ops);
        let opaque = ptr::with_exposed_provenance_mut(opaque);
        // SAFETY: the console had this pointer to a `GraphicHwOps`, which has at least six members of a pointer's size.
        if !matches!(unsafe { own_ops.read() }, [0, invalidate, update, 0, 0, 0] if invalidate != 0 && update != 0) {
            set(own_ops.cast(), opaque);
            return Err("it lays GraphicHwOps out in a way that the plugin does not know".to_owned());
        }
        // SAFETY: the console is QEMU's.
        let size = unsafe { ((self.width)(console.as_ptr(), 640), (self.height)(console.as_ptr(), 480)) };
        Ok(Screen {
            functions: self,
            console,
            own_ops: own_ops.cast(),
            opaque,
            own_size: size,
            size: None,
            is_invalid: true,
            pixels: buffer(),
        })
    }
}

/// The words of a console's structure.
fn words(console: NonNull<c_void>) -> Vec<usize> {
    // SAFETY: QEMU allocates consoles as blocks of the heap, each for itself; every word of such a block may be read, and under the big lock nobody writes to
    // this one meanwhile.
    unsafe {
        let words = malloc_usable_size(console.as_ptr()) / size_of::<usize>();
        let first = console.as_ptr().cast_const().cast::<usize>();
        (0..words.min(MOST_CONSOLE_WORDS)).map(|index| first.add(index).read_volatile()).collect()
    }
}

/// Pixels for the largest picture, which QEMU reads whenever it wants to: it is allocated once, and its pages when they are first written.
fn buffer() -> &'static [AtomicU32] {
    static BUFFER: std::sync::OnceLock<Box<[AtomicU32]>> = std::sync::OnceLock::new();
    // SAFETY: zeros are values of an `AtomicU32`.
    BUFFER.get_or_init(|| unsafe { Box::new_zeroed_slice(MOST_PIXELS).assume_init() })
}

/// A console that shows the display.
pub(super) struct Screen {
    functions: Console,
    console: NonNull<c_void>,
    /// What the console had before: functions, device, width and height.
    own_ops: *const c_void,
    opaque: *mut c_void,
    own_size: (c_int, c_int),
    /// Width and height of the picture that QEMU knows.
    size: Option<(u32, u32)>,
    /// QEMU wants all rows, whether they have changed or not.
    is_invalid: bool,
    pixels: &'static [AtomicU32],
}

// SAFETY: the pointers are QEMU's, live as long as the machine, and are used under QEMU's big lock only.
unsafe impl Send for Screen {}

impl Screen {
    /// Gives the console back to its device, under the big lock.
    pub(super) fn give_back(self) {
        let Self { functions, console, own_ops, opaque, own_size: (width, height), .. } = self;
        // SAFETY: the console had these before, and a surface of this size.
        unsafe {
            (functions.set_hwops)(console.as_ptr(), own_ops, opaque);
            (functions.resize)(console.as_ptr(), width, height);
        }
    }

    /// Puts rows of pixels into the buffer, which `row` makes. Returns what QEMU is to be told.
    fn fill(&mut self, size: (u32, u32), mut row: impl FnMut(u32, &mut [u32])) -> Change {
        let (width, height) = size;
        let is_new = self.size.replace(size) != Some(size);
        let mut line = vec![0; width as usize];
        let is_invalid = mem::take(&mut self.is_invalid) || is_new;
        let mut changed: Option<(u32, u32)> = is_invalid.then_some((0, height));
        for (y, target) in (0..height).zip(self.pixels.chunks_exact(width as usize)) {
            row(y, &mut line);
            let mut differs = false;
            for (target, &pixel) in target.iter().zip(&line) {
                differs |= target.load(Ordering::Relaxed) != pixel;
                target.store(pixel, Ordering::Relaxed);
            }
            if differs {
                changed = Some(changed.map_or((y, y + 1), |(first, end)| (first, end.max(y + 1))));
            }
        }
        Change { functions: self.functions, console: self.console, pixels: self.pixels, size, is_new, rows: changed }
    }
}

/// What has changed in the buffer.
struct Change {
    functions: Console,
    console: NonNull<c_void>,
    pixels: &'static [AtomicU32],
    size: (u32, u32),
    is_new: bool,
    /// From the first row to the one behind the last.
    rows: Option<(u32, u32)>,
}

impl Change {
    /// Tells QEMU, in a call of `gfx_update`.
    fn announce(self) {
        let [width, height] = [self.size.0, self.size.1].map(|pixels| pixels as c_int);
        let console = self.console.as_ptr();
        if self.is_new {
            // SAFETY: the buffer holds so many rows, is never freed, and its atomic words are written under the big lock, which QEMU holds when it reads them.
            // The console takes the new surface over, and frees its old one, but not that one's pixels.
            unsafe {
                let pixels = self.pixels.as_ptr().cast_mut().cast();
                let surface = (self.functions.create_surface)(width, height, PIXEL_FORMAT, 4 * width, pixels);
                (self.functions.set_surface)(console, surface);
            }
        }
        if let Some((first, end)) = self.rows {
            // SAFETY: the rectangle is within the surface.
            unsafe { (self.functions.update)(console, 0, first as c_int, width, (end - first) as c_int) };
        }
    }
}

/// Called by QEMU when everything is to be drawn at the next call of `gfx_update`.
extern "C" fn invalidate(_opaque: *mut c_void) {
    with_screen(|_, _, screen| screen.is_invalid = true);
}

/// Called by QEMU when something shows the console, or takes a picture of it. Returns that it has finished.
extern "C" fn gfx_update(_opaque: *mut c_void) -> bool {
    let change = with_screen(|display, memory, screen| {
        let picture = display.picture().filter(|picture| picture.width != 0 && picture.height != 0);
        match (picture, screen.size) {
            (Some(picture), _) => {
                let size = (picture.width, picture.height);
                Some(screen.fill(size, |y, row| display.row(memory, &picture, y, row)))
            }
            // Dark, as large as before.
            (None, Some(size)) => Some(screen.fill(size, |_, row| row.fill(0))),
            (None, None) => None,
        }
    });
    if let Some(Some(change)) = change {
        change.announce();
    }
    true
}
