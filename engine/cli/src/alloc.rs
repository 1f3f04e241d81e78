//! A global allocator that counts.
//!
//! A program declares it as its own:
//!
//! ```
//! use tenure_cli::alloc::{self, Counting};
//!
//! #[global_allocator]
//! static ALLOCATOR: Counting = Counting;
//!
//! let (sum, used) = alloc::count(|| Box::new(1u64));
//! assert_eq!((*sum, used.allocations, used.bytes), (1, 1, 8));
//! ```

use core::alloc::{GlobalAlloc, Layout};
use core::cell::Cell;
use std::alloc::System;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
    static BYTES: Cell<u64> = const { Cell::new(0) };
}

/// What a piece of code asked for: fresh blocks and grown ones alike.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Used {
    /// Number of requests.
    pub allocations: u64,
    /// Bytes requested; growing a block counts its new size.
    pub bytes: u64,
}

/// The system's allocator, counting the requests of each thread.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counting;

/// Runs `work` and tells what this thread asked for meanwhile: nothing, unless [`Counting`] is the global allocator.
pub fn count<T>(work: impl FnOnce() -> T) -> (T, Used) {
    let before = used();
    let value = work();
    let after = used();
    let allocations = after.allocations - before.allocations;
    (value, Used { allocations, bytes: after.bytes - before.bytes })
}

fn used() -> Used {
    Used { allocations: ALLOCATIONS.get(), bytes: BYTES.get() }
}

fn note(bytes: usize) {
    // A thread that is being torn down has no counters any more; nobody asks for them then.
    let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
    let _ = BYTES.try_with(|count| count.set(count.get() + bytes as u64));
}

#[expect(unsafe_code, reason = "an allocator cannot be written without")]
// SAFETY: every call goes to the system's allocator with the arguments as they came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note(layout.size());
        // SAFETY: the caller keeps the contract of `GlobalAlloc::alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the block came from `System`, with this layout.
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        note(layout.size());
        // SAFETY: the caller keeps the contract of `GlobalAlloc::alloc_zeroed`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        note(size);
        // SAFETY: the block came from `System`, with this layout; the caller answers for the size.
        unsafe { System.realloc(block, layout, size) }
    }
}
