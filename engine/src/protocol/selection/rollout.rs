//! From one list of assignors to another: what a group votes for, whom it lets in, and the way of two rolling
//! restarts.

use core::fmt;
use std::collections::{BTreeMap, BTreeSet};

use super::election::elected;
use super::{ASSIGNORS, Assignor};
use crate::protocol::error::ProtocolError;

/// A group and a list of assignors have nothing in common.
///
/// The wire has only INCONSISTENT_GROUP_PROTOCOL for this; the value says what both sides support and the way
/// out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoCommonProtocol {
    /// What every member of the group supports, in the first member's order.
    pub supported: Vec<String>,
    /// What was offered, in the order of preference.
    pub offered: Vec<String>,
}

impl NoCommonProtocol {
    fn remedy(&self) -> String {
        let old = self.supported.first().map_or("the old assignor", String::as_str);
        let new = self.offered.first().map_or("the new assignor", String::as_str);
        format!(
            "two rolling restarts are needed: first list [{old}, {new}] in every member, then [{new}] alone"
        )
    }
}

impl fmt::Display for NoCommonProtocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the group supports [{}], the member offers [{}]: nothing in common; {}",
            self.supported.join(", "),
            self.offered.join(", "),
            self.remedy()
        )
    }
}

impl core::error::Error for NoCommonProtocol {}

impl From<NoCommonProtocol> for ProtocolError {
    fn from(error: NoCommonProtocol) -> Self {
        Self::Config {
            setting: ASSIGNORS,
            given: error.offered.join(", "),
            needed: format!(
                "an assignor that the whole group supports [{}]; {}",
                error.supported.join(", "),
                error.remedy()
            ),
        }
    }
}

/// Checks before a roll-out whether a member with the list `offered` would be let into a group whose members have
/// the lists `group`; answers which assignor the group would then vote for.
///
/// Order: as [`vote`].
///
/// # Errors
///
/// [`NoCommonProtocol`] if the group's coordinator would answer INCONSISTENT_GROUP_PROTOCOL; it names what both
/// sides support and the two rolling restarts that lead there.
///
/// # Examples
///
/// ```
/// use tenure::protocol::selection::check_roll_out;
///
/// let group = [vec!["range"], vec!["range"]];
/// let refused = check_roll_out(&group, &["cooperative-sticky"]).unwrap_err().to_string();
/// assert!(refused.contains("the group supports [range]"));
/// assert!(refused.contains("two rolling restarts"));
///
/// assert_eq!(check_roll_out(&group, &["cooperative-sticky", "range"]).unwrap(), "range");
/// ```
pub fn check_roll_out<S, L, N>(group: &[L], offered: &[N]) -> Result<String, NoCommonProtocol>
where
    S: AsRef<str>,
    L: AsRef<[S]>,
    N: AsRef<str>,
{
    let own = |list: &L| list.as_ref().iter().map(|name| name.as_ref().to_owned()).collect();
    let mut lists: Vec<Vec<String>> = group.iter().map(own).collect();
    let supported = common_names(&lists);
    let offered: Vec<String> = offered.iter().map(|name| name.as_ref().to_owned()).collect();
    lists.push(offered.clone());
    match vote(&lists) {
        Some(winner) => Ok(winner.to_owned()),
        None => Err(NoCommonProtocol { supported, offered }),
    }
}

/// The vote of a group: each member is for the first of its assignors that all list, and most votes win. `None` if
/// nothing is in all lists.
///
/// Order: equal votes go as in the released broker's Java hash map: sticky before range before roundrobin before
/// cooperative-sticky.
///
/// # Examples
///
/// ```
/// use tenure::protocol::selection::vote;
///
/// let lists = [vec!["range", "sticky"], vec!["sticky", "range"], vec!["sticky", "range"]];
/// assert_eq!(vote(&lists), Some("sticky"));
/// assert_eq!(vote(&[vec!["range"], vec!["sticky"]]), None);
/// ```
pub fn vote<'a, S: AsRef<str> + 'a, L: AsRef<[S]>>(lists: &'a [L]) -> Option<&'a str> {
    let candidates = candidates(lists);
    let mut votes: BTreeMap<&str, usize> = BTreeMap::new();
    for list in lists {
        if let Some(choice) = list.as_ref().iter().map(AsRef::as_ref).find(|name| candidates.contains(name)) {
            let count = votes.entry(choice).or_default();
            *count = count.saturating_add(1);
        }
    }
    elected(&votes)
}

/// The assignor names that are in every list, in the order of the first.
pub fn common_names<S: AsRef<str>, L: AsRef<[S]>>(lists: &[L]) -> Vec<String> {
    let Some(first) = lists.first() else { return Vec::new() };
    let candidates = candidates(lists);
    let names = first.as_ref().iter().map(AsRef::as_ref);
    names.filter(|name| candidates.contains(name)).map(str::to_owned).collect()
}

fn candidates<'a, S: AsRef<str> + 'a, L: AsRef<[S]>>(lists: &'a [L]) -> BTreeSet<&'a str> {
    let Some((first, rest)) = lists.split_first() else { return BTreeSet::new() };
    let everywhere =
        |name: &&str| rest.iter().all(|list| list.as_ref().iter().any(|one| one.as_ref() == *name));
    first.as_ref().iter().map(AsRef::as_ref).filter(everywhere).collect()
}

/// The lists to roll out one after the other so that a group gets from one assignor to another, each step safe.
///
/// Source: KIP-429, recommended upgrade procedure; the way back is the same path walked the other way.
///
/// # Examples
///
/// ```
/// use tenure::protocol::selection::{Assignor, roll_out_path};
///
/// let path = roll_out_path(&Assignor::range(), &Assignor::cooperative_sticky());
/// assert_eq!(path, [vec!["range", "cooperative-sticky"], vec!["cooperative-sticky"]]);
/// assert_eq!(roll_out_path(&Assignor::range(), &Assignor::range()).len(), 0);
/// ```
pub fn roll_out_path(from: &Assignor, to: &Assignor) -> Vec<Vec<String>> {
    if from.name == to.name {
        return Vec::new();
    }
    vec![vec![from.name.clone(), to.name.clone()], vec![to.name.clone()]]
}
