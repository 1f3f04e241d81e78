//! Which version of each request is written: the newest that both sides have.

use std::collections::BTreeMap;

use crate::error::ClientError;

/// A request's number, its name and the versions this client writes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Api {
    pub(crate) key: i16,
    pub(crate) name: &'static str,
    pub(crate) oldest: i16,
    pub(crate) newest: i16,
}

/// The newest ones stop where topics lose their names (OffsetCommit 10, OffsetFetch 10, Metadata 13), where a
/// transaction's coordinator adds offsets by itself (TxnOffsetCommit 5, EndTxn 5), or where nothing is gained.
const APIS: &[Api] = &[
    Api { key: 3, name: "Metadata", oldest: 4, newest: 12 },
    Api { key: 8, name: "OffsetCommit", oldest: 2, newest: 9 },
    Api { key: 9, name: "OffsetFetch", oldest: 2, newest: 9 },
    Api { key: 10, name: "FindCoordinator", oldest: 1, newest: 4 },
    Api { key: 11, name: "JoinGroup", oldest: 2, newest: 9 },
    Api { key: 12, name: "Heartbeat", oldest: 0, newest: 4 },
    Api { key: 13, name: "LeaveGroup", oldest: 0, newest: 5 },
    Api { key: 14, name: "SyncGroup", oldest: 0, newest: 5 },
    Api { key: 15, name: "DescribeGroups", oldest: 0, newest: 6 },
    Api { key: 16, name: "ListGroups", oldest: 0, newest: 5 },
    Api { key: 17, name: "SaslHandshake", oldest: 1, newest: 1 },
    Api { key: 18, name: "ApiVersions", oldest: 0, newest: 3 },
    Api { key: 19, name: "CreateTopics", oldest: 2, newest: 7 },
    Api { key: 20, name: "DeleteTopics", oldest: 1, newest: 5 },
    Api { key: 22, name: "InitProducerId", oldest: 0, newest: 4 },
    Api { key: 25, name: "AddOffsetsToTxn", oldest: 0, newest: 3 },
    Api { key: 26, name: "EndTxn", oldest: 0, newest: 3 },
    Api { key: 28, name: "TxnOffsetCommit", oldest: 0, newest: 4 },
    Api { key: 36, name: "SaslAuthenticate", oldest: 0, newest: 2 },
    Api { key: 37, name: "CreatePartitions", oldest: 0, newest: 3 },
];

/// What is known of a request.
pub(crate) fn api(key: i16) -> Option<&'static Api> {
    APIS.iter().find(|one| one.key == key)
}

/// A request's name, for messages.
pub(crate) fn name_of(key: i16) -> &'static str {
    api(key).map_or("a request", |one| one.name)
}

/// What a broker said that it reads.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Versions(BTreeMap<i16, (i16, i16)>);

impl Versions {
    pub(crate) fn new(ranges: impl IntoIterator<Item = (i16, i16, i16)>) -> Self {
        Self(ranges.into_iter().map(|(key, oldest, newest)| (key, (oldest, newest))).collect())
    }

    /// The version to write.
    pub(crate) fn pick(&self, key: i16) -> Result<i16, ClientError> {
        let theirs = self.0.get(&key).copied();
        let name = name_of(key);
        let Some(api) = api(key) else {
            return Err(ClientError::Unsupported { request: name, ours: (0, -1), theirs });
        };
        match theirs {
            Some((oldest, newest)) if oldest.max(api.oldest) <= newest.min(api.newest) => {
                Ok(newest.min(api.newest))
            }
            _ => Err(ClientError::Unsupported { request: name, ours: (api.oldest, api.newest), theirs }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_in_common_is_picked() {
        let versions = Versions::new([(11, 0, 5), (14, 0, 99), (12, 5, 9), (13, 3, 1)]);
        assert_eq!(versions.pick(11), Ok(5));
        assert_eq!(versions.pick(14), Ok(5));
        let text = versions.pick(12).unwrap_err().to_string();
        assert!(text.contains("Heartbeat") && text.contains("5–9") && text.contains("0–4"), "{text}");
        assert!(versions.pick(13).is_err(), "a range that is upside down");
        assert!(versions.pick(3).unwrap_err().to_string().contains("does not know Metadata"));
    }

    #[test]
    fn every_request_has_a_table_for_its_answers() {
        for api in APIS {
            for version in api.oldest..=api.newest {
                // An empty answer ends early; only a version without a table says so.
                let error = crate::shape::check(api.key, version, &[]).unwrap_err();
                assert!(
                    !error.contains("version") && !error.contains("table"),
                    "{} {version}: {error}",
                    api.name
                );
            }
        }
    }
}
