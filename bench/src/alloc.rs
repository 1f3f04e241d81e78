//! Global allocators that count: the command's own, which a bench declares as its own too, and one that also knows how
//! much memory was alive at once.
//!
//! ```
//! use tenure_bench::alloc::{Peak, Weighing};
//!
//! #[global_allocator]
//! static ALLOCATOR: Weighing = Weighing;
//!
//! let peak = Peak::begin();
//! drop(vec![0u8; 1000]);
//! let kept = vec![0u8; 300];
//! assert_eq!((peak.held(), peak.most(), kept.len()), (300, 1000, 300));
//! ```

use core::alloc::{GlobalAlloc, Layout};
use core::sync::atomic::{AtomicUsize, Ordering};

pub use tenure_cli::alloc::{Counting, Used, count};

static ALIVE: AtomicUsize = AtomicUsize::new(0);
static MOST_ALIVE: AtomicUsize = AtomicUsize::new(0);

/// As [`Counting`], and weighs what is alive, of all threads together. For examples that are not timed to the
/// nanosecond.
#[derive(Clone, Copy, Debug, Default)]
pub struct Weighing;

/// The most memory that was alive at once since it began, beyond what was alive then; nothing unless [`Weighing`] is
/// the global allocator.
#[derive(Debug)]
pub struct Peak {
    before: usize,
}

impl Peak {
    /// Begins here; peaks that began before end.
    pub fn begin() -> Self {
        let before = ALIVE.load(Ordering::Relaxed);
        MOST_ALIVE.store(before, Ordering::Relaxed);
        Self { before }
    }

    /// Bytes alive now.
    pub fn held(&self) -> usize {
        ALIVE.load(Ordering::Relaxed).saturating_sub(self.before)
    }

    /// The most bytes that were alive at once.
    pub fn most(&self) -> usize {
        MOST_ALIVE.load(Ordering::Relaxed).saturating_sub(self.before)
    }
}

fn take(bytes: usize) {
    let alive = ALIVE.fetch_add(bytes, Ordering::Relaxed) + bytes;
    MOST_ALIVE.fetch_max(alive, Ordering::Relaxed);
}

fn give_back(bytes: usize) {
    ALIVE.fetch_sub(bytes, Ordering::Relaxed);
}

#[expect(unsafe_code, reason = "an allocator cannot be written without")]
// SAFETY: every call goes to the other allocator with the arguments as they came.
unsafe impl GlobalAlloc for Weighing {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        take(layout.size());
        // SAFETY: the caller keeps the contract of `GlobalAlloc::alloc`.
        unsafe { Counting.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        give_back(layout.size());
        // SAFETY: the block came from the other allocator, with this layout.
        unsafe { Counting.dealloc(block, layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        take(layout.size());
        // SAFETY: the caller keeps the contract of `GlobalAlloc::alloc_zeroed`.
        unsafe { Counting.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // While a block grows, both may be there.
        take(size);
        give_back(layout.size());
        // SAFETY: the block came from the other allocator, with this layout; the caller answers for the size.
        unsafe { Counting.realloc(block, layout, size) }
    }
}
