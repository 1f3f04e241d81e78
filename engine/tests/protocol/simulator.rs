//! The simulator: seeds that must hold, the canary that must be caught, and replays that must be equal.

use tenure::protocol::selection::RebalanceProtocol;
use tenure::simulation::{Options, Rule, Scenario, minimise, run, run_with_timeline};

/// So many seeds are run here; the command runs as many as it is told.
const SEEDS: u64 = if cfg!(debug_assertions) { 60 } else { 600 };

#[test]
fn no_seed_breaks_a_rule() {
    let mut rebalances = 0;
    for seed in 0..SEEDS {
        let options = Options::derive(seed);
        let outcome = run(&options);
        if let Some(violation) = &outcome.violation {
            let (smallest, outcome) = minimise(&options, violation.rule, 200);
            panic!("{violation}\n\n{options}\nsmallest: {smallest}\n{:?}", outcome.violation);
        }
        rebalances += outcome.rebalances;
    }
    assert!(rebalances > SEEDS * 10, "{rebalances} rebalances are too few to mean anything");
}

#[test]
fn the_same_seed_gives_the_same_run() {
    for seed in 0..10 {
        assert_eq!(run(&Options::derive(seed)), run(&Options::derive(seed)));
    }
}

#[test]
fn the_canary_is_caught_and_made_small() {
    let mut caught = 0;
    let mut tried = 0;
    for seed in 0..40 {
        let options = Options { canary: true, ..Options::derive(seed) };
        if !options.processes[0].assignors.iter().any(|name| name.contains("cooperative")) {
            continue;
        }
        tried += 1;
        if let Some(violation) = run(&options).violation {
            assert!(
                matches!(violation.rule, Rule::OneReader | Rule::OwnersCommit),
                "caught for another reason: {violation}"
            );
            caught += 1;
            if caught == 1 {
                let (smallest, outcome) = minimise(&options, violation.rule, 100);
                assert_eq!(outcome.violation.as_ref().map(|one| one.rule), Some(violation.rule));
                assert!(smallest.disturbances.len() <= options.disturbances.len());
                assert_eq!(run(&smallest), outcome, "the small run repeats too");
            }
        }
    }
    assert!(caught * 2 > tried, "only {caught} of {tried} canaries were caught");
}

#[test]
fn cooperative_restarts_pause_less_than_eager_ones() {
    for scenario in Scenario::ALL {
        assert_eq!(Scenario::by_name(scenario.name()), Some(scenario));
        let of = |protocol| {
            let (outcome, timeline) = run_with_timeline(&scenario.options(protocol, 1));
            assert_eq!(outcome.violation, None, "{} {protocol}", scenario.name());
            assert!(!timeline.entries().is_empty());
            timeline
        };
        let eager = of(RebalanceProtocol::Eager);
        let cooperative = of(RebalanceProtocol::Cooperative);
        if scenario.compares() {
            assert!(
                cooperative.revocations() < eager.revocations(),
                "{}: {} cooperative, {} eager",
                scenario.name(),
                cooperative.revocations(),
                eager.revocations()
            );
        }
    }
}
