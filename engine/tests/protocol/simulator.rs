//! The simulator: seeds that must hold, planted faults that must be caught, and replays that must be equal.

use tenure::protocol::selection::RebalanceProtocol;
use tenure::simulation::{
    Entry, Mutation, Options, Rule, Scenario, Timeline, minimise, run, run_with_timeline,
};

/// So many seeds are run here; the command runs as many as it is told.
const SEEDS: u64 = if cfg!(debug_assertions) { 60 } else { 600 };

/// Runs a seed; a broken rule is shown in the smallest run that breaks it.
fn must_hold(options: &Options) -> tenure::simulation::Outcome {
    let outcome = run(options);
    if let Some(violation) = &outcome.violation {
        let (smallest, outcome) = minimise(options, violation.rule, 200);
        panic!("{violation}\n\n{options}\nsmallest: {smallest}\n{:?}", outcome.violation);
    }
    outcome
}

#[test]
fn no_seed_breaks_a_rule() {
    let rebalances: u64 = (0..SEEDS).map(|seed| must_hold(&Options::derive(seed)).rebalances).sum();
    assert!(rebalances > SEEDS * 10, "{rebalances} rebalances are too few to mean anything");
}

#[test]
fn each_record_comes_out_exactly_once_whatever_the_faults() {
    let (mut committed, mut aborted) = (0, 0);
    for seed in 0..SEEDS / 3 {
        let outcome = must_hold(&Options::derive_transactional(seed));
        committed += outcome.committed;
        aborted += outcome.aborted;
    }
    assert!(committed > SEEDS * 20, "only {committed} transactions were committed");
    assert!(aborted > SEEDS, "only {aborted} transactions were aborted");
}

/// What was once found and mended: see `reports/simulation`.
#[test]
fn seeds_that_once_broke_a_rule_hold() {
    for seed in [18, 2029, 5060, 1_003_764, 2_003_620, 3_000_108] {
        must_hold(&Options::derive(seed));
    }
    for seed in [12, 100_309, 100_314] {
        must_hold(&Options::derive_transactional(seed));
    }
}

#[test]
fn the_same_seed_gives_the_same_run() {
    for seed in 0..10 {
        assert_eq!(run(&Options::derive(seed)), run(&Options::derive(seed)));
        let options = Options::derive_transactional(seed);
        assert_eq!(run(&options), run(&options));
        // Writing the course down changes nothing.
        assert_eq!(run(&options), run_with_timeline(&options).0);
    }
}

/// What each planted fault must break, and whether it takes transactions to notice.
fn breaks(mutation: Mutation) -> (&'static [Rule], bool) {
    match mutation {
        Mutation::WithholdsNothing => (&[Rule::OneReader, Rule::OwnersCommit], false),
        Mutation::BelievesLateAnswers => (&[Rule::OneReader, Rule::OwnersCommit, Rule::Settles], false),
        Mutation::AdmitsAnyCommit => (&[Rule::OwnersCommit], false),
        Mutation::NoTransactionFence => (&[Rule::ExactlyOnce], true),
        Mutation::ReadsUnstableOffsets => (&[Rule::ExactlyOnce], true),
        other => panic!("{other} is not known here"),
    }
}

#[test]
fn every_planted_fault_is_caught_and_made_small() {
    for mutation in Mutation::ALL {
        assert_eq!(Mutation::by_name(mutation.name()), Some(mutation));
        let (rules, transactional) = breaks(mutation);
        let caught = (0..200).find_map(|seed| {
            let derived =
                if transactional { Options::derive_transactional(seed) } else { Options::derive(seed) };
            let options = Options { mutation: Some(mutation), ..derived };
            run(&options).violation.map(|violation| (options, violation))
        });
        let (options, violation) = caught.unwrap_or_else(|| panic!("{mutation} was never caught"));
        assert!(rules.contains(&violation.rule), "{mutation} was caught for another reason: {violation}");
        let (smallest, outcome) = minimise(&options, violation.rule, 100);
        assert_eq!(outcome.violation.as_ref().map(|one| one.rule), Some(violation.rule), "{mutation}");
        assert!(smallest.disturbances.len() <= options.disturbances.len());
        assert_eq!(run(&smallest), outcome, "{mutation}: the small run repeats too");
        // Without the fault the same run is well.
        assert_eq!(run(&Options { mutation: None, ..options }).violation, None, "{mutation}");
    }
}

#[test]
fn most_groups_notice_a_leader_that_withholds_nothing() {
    let cooperative =
        |options: &Options| options.processes[0].assignors.iter().any(|name| name.contains("cooperative"));
    let tried: Vec<Options> = (0..40).map(Options::derive).filter(cooperative).collect();
    let caught = tried
        .iter()
        .filter(|options| {
            let mutation = Some(Mutation::WithholdsNothing);
            run(&Options { mutation, ..(*options).clone() }).violation.is_some()
        })
        .count();
    assert!(caught * 2 > tried.len(), "only {caught} of {} were caught", tried.len());
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

/// The document's edge case, step by step, and what would come of it without the fence.
#[test]
fn the_zombie_of_kip_447_is_caught() {
    let options = Scenario::ZombieCommit.options(RebalanceProtocol::Cooperative, 1);
    let (outcome, timeline) = run_with_timeline(&options);
    assert_eq!(outcome.violation, None);
    let steps = zombie_steps(&timeline);
    let [pauses, taken_over, done, refused] = steps[..] else { panic!("{steps:?}") };
    // 1 and 2: it stands still before the commit, past its session; 3: its partitions go to the other one;
    assert!(pauses < taken_over, "{steps:?}");
    // 4: which sees no pending offsets and does the same records; 5: the zombie wakes and is refused.
    assert!(taken_over < done && done < refused, "{steps:?}");

    let mutation = Some(Mutation::NoTransactionFence);
    let (outcome, _) = run_with_timeline(&Options { mutation, ..options });
    let rule = outcome.violation.map(|violation| violation.rule);
    assert_eq!(rule, Some(Rule::ExactlyOnce), "without the fence a record comes out twice");
}

/// When the zombie of the scenario stood still, lost its partitions, had its records done by the other, was refused.
fn zombie_steps(timeline: &Timeline) -> Vec<u64> {
    let mut steps = Vec::new();
    let is = |entry: &Entry, process, text: &str| entry.process == process && entry.text.contains(text);
    let awaited: [(Option<usize>, &str); 4] = [
        (Some(0), "before CommitOffsets"),
        (Some(1), "assigned t0"),
        (Some(1), "committed t0"),
        (Some(0), "may not commit its offsets: ILLEGAL_GENERATION"),
    ];
    let mut entries = timeline.entries().iter();
    for (process, text) in awaited {
        if let Some(entry) = entries.find(|entry| is(entry, process, text)) {
            steps.push(entry.at_ms);
        }
    }
    steps
}
