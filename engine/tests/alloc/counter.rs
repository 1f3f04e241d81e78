//! The allocator of the system, with a count.

#![allow(unsafe_code, reason = "an allocator cannot be written without")]

use core::alloc::{GlobalAlloc, Layout};
use core::sync::atomic::{AtomicU64, Ordering};
use std::alloc::System;

struct Counter;

static COUNT: AtomicU64 = AtomicU64::new(0);

#[global_allocator]
static COUNTER: Counter = Counter;

// SAFETY: every method hands its arguments on to the system's allocator, which fulfils the contract.
unsafe impl GlobalAlloc for Counter {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `alloc`, which is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the block came from the system's allocator by the methods here, with this layout.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        COUNT.fetch_add(1, Ordering::Relaxed);
        // SAFETY: as for `dealloc`, and the caller vouches for the size.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

/// How often memory was asked for while `work` ran, on any thread.
pub(crate) fn allocations<T>(work: impl FnOnce() -> T) -> u64 {
    let before = COUNT.load(Ordering::Relaxed);
    let result = core::hint::black_box(work());
    let count = COUNT.load(Ordering::Relaxed) - before;
    drop(result);
    count
}
