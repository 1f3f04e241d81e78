//! The changes of `tenure what-if`, in the order in which they stand on the command line.

use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, error::ErrorKind};
use tenure_cli::scenario::Change;

/// One option.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Step {
    Change(Change),
    /// Every member leaves and comes back, one after another.
    RollingRestart,
}

/// All options, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Steps(pub(crate) Vec<Step>);

const ADD_MEMBERS: &str = "add-members";
const REMOVE: &str = "remove";
const ADD_PARTITIONS: &str = "add-partitions";
const SUBSCRIBE: &str = "subscribe";
const ROLLING_RESTART: &str = "rolling-restart";

impl Args for Steps {
    fn augment_args(command: Command) -> Command {
        let option = |name: &'static str, value: &'static str, help: &'static str| {
            let option = Arg::new(name).long(name).value_name(value).action(ArgAction::Append).help(help);
            option.help_heading("Steps, in the order in which they are given")
        };
        let many = |option: Arg| option.num_args(1..);
        command
            .arg(
                option(ADD_MEMBERS, "N", "N members join, subscribing as most members do")
                    .value_parser(clap::value_parser!(u32).range(1..=100_000)),
            )
            .arg(many(option(REMOVE, "MEMBER", "These members leave together (member or instance ids)")))
            .arg(many(option(
                ADD_PARTITIONS,
                "TOPIC=N",
                "A topic gets N partitions more; a topic that does not exist is made",
            )))
            .arg(many(option(SUBSCRIBE, "MEMBER=TOPIC", "Members subscribe to more topics, all at once")))
            .arg(
                option(ROLLING_RESTART, "", "Every member leaves and comes back, one after another")
                    .action(ArgAction::SetTrue),
            )
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Steps {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut steps: Vec<(usize, Step)> = Vec::new();
        let add = matches.get_many::<u32>(ADD_MEMBERS).into_iter().flatten();
        for (count, at) in add.zip(matches.indices_of(ADD_MEMBERS).into_iter().flatten()) {
            steps.push((at, Step::Change(Change::AddMembers(*count))));
        }
        for (at, names) in occurrences(matches, REMOVE) {
            steps.push((at, Step::Change(Change::Remove(names))));
        }
        for (at, pairs) in occurrences(matches, ADD_PARTITIONS) {
            for pair in pairs {
                let (topic, count) = split(ADD_PARTITIONS, &pair, "TOPIC=N, such as orders=4")?;
                let count: u32 = count.parse().ok().filter(|count| *count > 0).ok_or_else(|| {
                    refuse(ADD_PARTITIONS, &pair, "N partitions, a whole number from 1, such as orders=4")
                })?;
                steps.push((at, Step::Change(Change::AddPartitions(topic, count))));
            }
        }
        for (at, pairs) in occurrences(matches, SUBSCRIBE) {
            let mut wishes = Vec::new();
            for pair in pairs {
                let (member, topics) = split(SUBSCRIBE, &pair, "MEMBER=TOPIC, such as consumer-1=orders")?;
                wishes.extend(topics.split(',').map(|topic| (member.clone(), topic.to_string())));
            }
            steps.push((at, Step::Change(Change::Subscribe(wishes))));
        }
        if matches.value_source(ROLLING_RESTART) == Some(ValueSource::CommandLine) {
            steps.push((matches.index_of(ROLLING_RESTART).unwrap_or(usize::MAX), Step::RollingRestart));
        }
        steps.sort_by_key(|(at, _)| *at);
        Ok(Self(steps.into_iter().map(|(_, step)| step).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// The values of each occurrence of an option, with the place of the first.
fn occurrences(matches: &ArgMatches, name: &str) -> Vec<(usize, Vec<String>)> {
    let mut places = matches.indices_of(name).into_iter().flatten();
    let occurrences = matches.get_occurrences::<String>(name).into_iter().flatten();
    let read = occurrences.filter_map(|values| {
        let values: Vec<String> = values.cloned().collect();
        let first = places.next()?;
        if values.len() > 1 {
            places.nth(values.len() - 2);
        }
        Some((first, values))
    });
    read.collect()
}

/// Splits at the last equals sign: member ids may hold others, topics and numbers not.
fn split(option: &str, pair: &str, form: &str) -> Result<(String, String), clap::Error> {
    match pair.rsplit_once('=') {
        Some((name, value)) if !name.is_empty() && !value.is_empty() => Ok((name.into(), value.into())),
        _ => Err(refuse(option, pair, form)),
    }
}

fn refuse(option: &str, value: &str, form: &str) -> clap::Error {
    let text = format!("invalid value '{value}' for '--{option}': write {form}\n");
    clap::Error::raw(ErrorKind::ValueValidation, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(arguments: &[&str]) -> Result<Vec<Step>, clap::Error> {
        let command = Steps::augment_args(Command::new("test").no_binary_name(true));
        Steps::from_arg_matches(&command.try_get_matches_from(arguments)?).map(|steps| steps.0)
    }

    #[test]
    fn the_order_is_that_of_the_command_line() {
        let found = steps(&[
            "--remove",
            "a",
            "b",
            "--add-members",
            "2",
            "--rolling-restart",
            "--remove",
            "c",
            "--subscribe",
            "x=y=t,u",
            "--add-partitions",
            "t=3",
            "u=1",
            "--add-members",
            "1",
        ]);
        let pair = |a: &str, b: &str| (a.to_string(), b.to_string());
        assert_eq!(
            found.unwrap(),
            [
                Step::Change(Change::Remove(vec!["a".into(), "b".into()])),
                Step::Change(Change::AddMembers(2)),
                Step::RollingRestart,
                Step::Change(Change::Remove(vec!["c".into()])),
                Step::Change(Change::Subscribe(vec![pair("x=y", "t"), pair("x=y", "u")])),
                Step::Change(Change::AddPartitions("t".into(), 3)),
                Step::Change(Change::AddPartitions("u".into(), 1)),
                Step::Change(Change::AddMembers(1)),
            ]
        );
    }

    #[test]
    fn bad_pairs_are_refused() {
        for bad in [
            &["--add-partitions", "t"][..],
            &["--add-partitions", "t=-1"],
            &["--add-partitions", "t=0"],
            &["--add-partitions", "=3"],
            &["--add-members", "0"],
            &["--subscribe", "a"],
            &["--subscribe", "a="],
            &["--remove"],
        ] {
            assert!(steps(bad).is_err(), "{bad:?}");
        }
    }
}
