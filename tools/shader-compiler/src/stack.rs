//! Calls a function on a large stack.
//!
//! naga and this compiler recurse for nested constructs of the source. Their depth is limited before; what the limits allow fits into this stack, but not
//! always into the caller's.

#[cfg(feature = "std")]
use alloc::format;
use alloc::string::String;
#[cfg(feature = "std")]
use core::any::Any;
#[cfg(feature = "std")]
use std::thread;

/// Size of the stack in bytes. Memory is committed only for the part that is used.
#[cfg(feature = "std")]
const STACK_BYTES: usize = 256 << 20;

/// Calls the function on the caller's stack, since there are no threads.
#[cfg(not(feature = "std"))]
pub(crate) fn with_large_stack<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T, String> {
    Ok(work())
}

/// Calls the function on a large stack; fails if that is not possible.
#[cfg(feature = "std")]
pub(crate) fn with_large_stack<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T, String> {
    if cfg!(target_family = "wasm") {
        // There are no threads, and the host determines the stack.
        return Ok(work());
    }
    thread::scope(|scope| {
        let builder = thread::Builder::new().name("shader compiler".into()).stack_size(STACK_BYTES);
        let thread = builder.spawn_scoped(scope, work).map_err(|error| format!("there is no stack: {error}"))?;
        thread.join().map_err(|panic| format!("a fault of the compiler: {}", said(panic.as_ref())))
    })
}

#[cfg(feature = "std")]
/// The message of a panic.
fn said(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("it panicked")
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use super::*;

    #[test]
    fn what_panics_is_an_error() {
        assert_eq!(with_large_stack(|| 7), Ok(7));
        let error = with_large_stack(|| -> u8 { panic!("number {}", 5) }).unwrap_err();
        assert_eq!(error, "a fault of the compiler: number 5");
    }

    /// A recursion that needs 100 MB.
    #[test]
    fn the_stack_is_large() {
        fn deep(levels: usize) -> u64 {
            let frame = core::hint::black_box([levels as u64; 128]);
            if levels == 0 { frame[0] } else { deep(levels - 1) + frame[127] - levels as u64 }
        }
        assert_eq!(with_large_stack(|| deep(100_000)), Ok(0));
    }
}
