//! One member as the JoinGroup response lists it.

use crate::protocol::message::JoinMember;

/// A member of a JoinGroup response: what a leader reads of it.
///
/// A client that has its own type for this implements it there, and nothing is copied. The answers must not change
/// during a call.
pub trait JoinEntry: Sync {
    /// The member's id.
    fn id(&self) -> &str;

    /// Its static name (`group.instance.id`), if it has one.
    fn instance_id(&self) -> Option<&str>;

    /// Its subscription's bytes for the selected assignor.
    fn metadata(&self) -> &[u8];
}

impl JoinEntry for JoinMember {
    #[inline]
    fn id(&self) -> &str {
        &self.member_id
    }

    #[inline]
    fn instance_id(&self) -> Option<&str> {
        self.group_instance_id.as_deref()
    }

    #[inline]
    fn metadata(&self) -> &[u8] {
        &self.metadata
    }
}

impl<T: JoinEntry> JoinEntry for &T {
    #[inline]
    fn id(&self) -> &str {
        (**self).id()
    }

    #[inline]
    fn instance_id(&self) -> Option<&str> {
        (**self).instance_id()
    }

    #[inline]
    fn metadata(&self) -> &[u8] {
        (**self).metadata()
    }
}

/// A member borrowed from wherever the response's bytes are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemberMetadata<'a> {
    /// The member's id.
    pub id: &'a str,
    /// Its static name, if it has one.
    pub instance_id: Option<&'a str>,
    /// Its subscription's bytes.
    pub metadata: &'a [u8],
}

impl<'a> MemberMetadata<'a> {
    /// A dynamic member.
    pub const fn new(id: &'a str, metadata: &'a [u8]) -> Self {
        Self { id, instance_id: None, metadata }
    }
}

impl JoinEntry for MemberMetadata<'_> {
    #[inline]
    fn id(&self) -> &str {
        self.id
    }

    #[inline]
    fn instance_id(&self) -> Option<&str> {
        self.instance_id
    }

    #[inline]
    fn metadata(&self) -> &[u8] {
        self.metadata
    }
}
