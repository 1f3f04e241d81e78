//! One clock for all processes of this machine.

/// Nanoseconds since the machine started.
///
/// Java's `System.nanoTime`, Python's `time.monotonic_ns` and Go's `CLOCK_MONOTONIC` read the same clock on Linux, so
/// what members of different processes saw can be put in order, and no change of the wall clock disturbs it.
pub fn now_ns() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    let seconds = u64::try_from(now.tv_sec).unwrap_or(0);
    seconds * 1_000_000_000 + u64::try_from(now.tv_nsec).unwrap_or(0)
}
