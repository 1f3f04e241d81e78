//! Whether a member's assignors fit a group: asked by an operator before a roll-out, or to explain a refusal.

use core::fmt;
use std::collections::{BTreeMap, BTreeSet};

use super::vote::elected;

/// A group and a list of assignors have nothing in common.
///
/// The wire has only INCONSISTENT_GROUP_PROTOCOL for this; the value says what both sides support and the way
/// out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoCommonProtocol {
    /// What every member of the group supports, sorted.
    pub supported: Vec<String>,
    /// What was offered, in the order of preference.
    pub offered: Vec<String>,
}

impl fmt::Display for NoCommonProtocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the group supports [{}], the member offers [{}]: nothing in common. Two rolling restarts are \
             needed: in the first every member lists the new name beside the old one, in the second the old one \
             is removed",
            self.supported.join(", "),
            self.offered.join(", ")
        )
    }
}

impl core::error::Error for NoCommonProtocol {}

/// Whether a member with these assignors would be let into a group whose members offer `members`, and which
/// assignor the group would then vote for.
///
/// Order: of equal votes, as in the coordinator's own count: see the module page.
///
/// # Errors
///
/// [`NoCommonProtocol`] if the group's coordinator would answer INCONSISTENT_GROUP_PROTOCOL.
///
/// # Examples
///
/// ```
/// use tenure::protocol::coordinator::check_roll_out;
///
/// let group = [vec!["range"], vec!["range"]];
/// let refused = check_roll_out(&group, &["cooperative-sticky"]).unwrap_err();
/// assert!(refused.to_string().contains("the group supports [range]"));
/// assert!(refused.to_string().contains("Two rolling restarts"));
///
/// assert_eq!(check_roll_out(&group, &["cooperative-sticky", "range"]).unwrap(), "range");
/// ```
pub fn check_roll_out<L, N>(members: &[L], offered: &[N]) -> Result<String, NoCommonProtocol>
where
    L: AsRef<[N]>,
    N: AsRef<str>,
{
    let lists: Vec<Vec<&str>> =
        members.iter().map(|list| list.as_ref().iter().map(AsRef::as_ref).collect()).collect();
    let offered: Vec<&str> = offered.iter().map(AsRef::as_ref).collect();
    let everywhere = |name: &&str| lists.iter().all(|list| list.contains(name));
    let common: BTreeSet<&str> = offered.iter().copied().filter(everywhere).collect();
    let mut votes: BTreeMap<&str, usize> = BTreeMap::new();
    for list in lists.iter().chain([&offered]) {
        if let Some(choice) = list.iter().find(|name| common.contains(*name)) {
            let count = votes.entry(choice).or_default();
            *count = count.saturating_add(1);
        }
    }
    elected(&votes).map(str::to_owned).ok_or_else(|| {
        let first = lists.first().map(Vec::as_slice).unwrap_or_default();
        let supported: BTreeSet<&str> = first.iter().copied().filter(everywhere).collect();
        NoCommonProtocol {
            supported: supported.into_iter().map(str::to_owned).collect(),
            offered: offered.iter().map(|name| (*name).to_owned()).collect(),
        }
    })
}
