//! What the criterion benches share: CPU time instead of wall time, nanoseconds a partition, flame graphs.

use core::ffi::c_int;
use core::time::Duration;
use std::fs::{self, File};
use std::path::Path;

use criterion::measurement::{Measurement, ValueFormatter};
use criterion::profiler::Profiler;
use criterion::{Criterion, Throughput};
use pprof::ProfilerGuard;
use tenure_bench::measure::thread_time;

/// The seed of all workloads.
pub(crate) const SEED: u64 = 429;

/// Samples a second while a flame graph is made; a prime, so as not to beat with anything.
const PROFILE_FREQUENCY: c_int = 997;

/// Whether benches only have to run: small groups, few samples.
pub(crate) fn smoke() -> bool {
    std::env::var_os("TENURE_BENCH_SMOKE").is_some()
}

/// Criterion as all our benches use it; the command line has the last word.
pub(crate) fn criterion() -> Criterion<CpuTime> {
    let criterion = Criterion::default().with_measurement(CpuTime).with_profiler(FlameGraph::default());
    let criterion = if smoke() {
        criterion
            .sample_size(10)
            .warm_up_time(Duration::from_millis(10))
            .measurement_time(Duration::from_millis(20))
            .nresamples(1_000)
            .without_plots()
    } else {
        criterion
            .sample_size(20)
            .warm_up_time(Duration::from_millis(300))
            .measurement_time(Duration::from_millis(1_500))
    };
    criterion.configure_from_args()
}

/// CPU time of the measuring thread: what other programs do meanwhile counts little.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CpuTime;

impl Measurement for CpuTime {
    type Intermediate = Duration;
    type Value = Duration;

    fn start(&self) -> Duration {
        thread_time()
    }

    fn end(&self, begin: Duration) -> Duration {
        thread_time() - begin
    }

    fn add(&self, a: &Duration, b: &Duration) -> Duration {
        *a + *b
    }

    fn zero(&self) -> Duration {
        Duration::ZERO
    }

    fn to_f64(&self, value: &Duration) -> f64 {
        value.as_nanos() as f64
    }

    fn formatter(&self) -> &dyn ValueFormatter {
        &Nanoseconds
    }
}

/// Times with a fitting unit; throughput as nanoseconds an element, which people compare here.
#[derive(Clone, Copy, Debug)]
struct Nanoseconds;

impl ValueFormatter for Nanoseconds {
    fn scale_values(&self, typical: f64, values: &mut [f64]) -> &'static str {
        let (factor, unit) = match typical {
            ns if ns < 1e3 => (1.0, "ns"),
            ns if ns < 1e6 => (1e-3, "µs"),
            ns if ns < 1e9 => (1e-6, "ms"),
            _ => (1e-9, "s"),
        };
        values.iter_mut().for_each(|value| *value *= factor);
        unit
    }

    fn scale_throughputs(&self, _: f64, throughput: &Throughput, values: &mut [f64]) -> &'static str {
        match *throughput {
            Throughput::Elements(elements) => {
                values.iter_mut().for_each(|value| *value /= elements as f64);
                "ns/partition"
            }
            Throughput::Bytes(bytes) | Throughput::BytesDecimal(bytes) => {
                values.iter_mut().for_each(|value| *value = bytes as f64 / *value);
                "GB/s"
            }
            _ => "ns",
        }
    }

    fn scale_for_machines(&self, _: &mut [f64]) -> &'static str {
        "ns"
    }
}

/// Writes a flame graph beside criterion's own files when it runs with `--profile-time SECONDS`.
#[derive(Default)]
struct FlameGraph {
    running: Option<ProfilerGuard<'static>>,
}

impl Profiler for FlameGraph {
    fn start_profiling(&mut self, id: &str, _: &Path) {
        match ProfilerGuard::new(PROFILE_FREQUENCY) {
            Ok(guard) => self.running = Some(guard),
            Err(error) => eprintln!("{id}: no profile: {error}"),
        }
    }

    fn stop_profiling(&mut self, id: &str, folder: &Path) {
        let Some(guard) = self.running.take() else { return };
        let write = || -> Result<(), Box<dyn core::error::Error>> {
            fs::create_dir_all(folder)?;
            guard.report().build()?.flamegraph(File::create(folder.join("flamegraph.svg"))?)?;
            Ok(())
        };
        match write() {
            Ok(()) => println!("{id}: {}", folder.join("flamegraph.svg").display()),
            Err(error) => eprintln!("{id}: no flame graph: {error}"),
        }
    }
}
