//! The files between the bench and its drivers; `bench/peers/README.md` has their layout.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use tenure::protocol::message::JoinMember;

use crate::workloads::Workload;

const MAGIC: &[u8; 4] = b"TNG1";

/// What each member got, in the order of the workload.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Answer {
    /// As assignments on the wire.
    Bytes(Vec<Vec<u8>>),
    /// As pairs: position of the topic among those that exist, partition.
    Lists(Vec<Vec<(u32, u32)>>),
}

/// Writes a group: its existing topics, and its members with their bytes.
///
/// # Errors
///
/// Those of the file.
pub fn write_group(path: &Path, workload: &Workload, members: &[JoinMember]) -> io::Result<()> {
    let mut out = BufWriter::new(File::create(path)?);
    out.write_all(MAGIC)?;
    let topics: Vec<_> = workload.existing().collect();
    put_u32(&mut out, topics.len())?;
    for topic in topics {
        put_name(&mut out, &topic.name)?;
        put_u32(&mut out, topic.partitions as usize)?;
    }
    put_u32(&mut out, members.len())?;
    for member in members {
        put_name(&mut out, &member.member_id)?;
        put_u32(&mut out, member.metadata.len())?;
        out.write_all(&member.metadata)?;
    }
    out.flush()
}

fn put_u32(out: &mut impl Write, number: usize) -> io::Result<()> {
    out.write_all(&u32::try_from(number).map_err(io::Error::other)?.to_be_bytes())
}

fn put_name(out: &mut impl Write, name: &str) -> io::Result<()> {
    out.write_all(&u16::try_from(name.len()).map_err(io::Error::other)?.to_be_bytes())?;
    out.write_all(name.as_bytes())
}

/// Reads an answer for this many members.
///
/// # Errors
///
/// Where the bytes are not what the layout says.
pub fn read_answer(bytes: &[u8], members: usize) -> Result<Answer, String> {
    let mut reader = Reader { rest: bytes };
    let kind = reader.take(1)?[0];
    let count = reader.u32()? as usize;
    if count != members {
        return Err(format!("an answer for {count} members of {members}"));
    }
    let answer = match kind {
        0 => Answer::Bytes((0..count).map(|_| reader.bytes()).collect::<Result<_, _>>()?),
        1 => Answer::Lists((0..count).map(|_| reader.pairs()).collect::<Result<_, _>>()?),
        other => return Err(format!("an answer of unknown kind {other}")),
    };
    if reader.rest.is_empty() {
        Ok(answer)
    } else {
        Err(format!("{} bytes after the answer", reader.rest.len()))
    }
}

struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], String> {
        let (taken, rest) = self.rest.split_at_checked(count).ok_or("the answer ends too early")?;
        self.rest = rest;
        Ok(taken)
    }

    fn u32(&mut self) -> Result<u32, String> {
        let bytes = self.take(4)?;
        Ok(bytes.iter().fold(0, |number, &byte| number << 8 | u32::from(byte)))
    }

    fn bytes(&mut self) -> Result<Vec<u8>, String> {
        let length = self.u32()? as usize;
        self.take(length).map(<[u8]>::to_vec)
    }

    fn pairs(&mut self) -> Result<Vec<(u32, u32)>, String> {
        let count = self.u32()?;
        (0..count).map(|_| Ok((self.u32()?, self.u32()?))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{Answer, read_answer};

    #[test]
    fn both_kinds_are_read() {
        let bytes = [0, 0, 0, 0, 2, 0, 0, 0, 3, 7, 8, 9, 0, 0, 0, 0];
        assert_eq!(read_answer(&bytes, 2), Ok(Answer::Bytes(vec![vec![7, 8, 9], vec![]])));
        let bytes = [1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 5, 0, 0, 1, 0];
        assert_eq!(read_answer(&bytes, 1), Ok(Answer::Lists(vec![vec![(5, 256)]])));
    }

    #[test]
    fn a_damaged_answer_is_refused_at_every_byte() {
        let bytes = [0, 0, 0, 0, 2, 0, 0, 0, 3, 7, 8, 9, 0, 0, 0, 0];
        for end in 0..bytes.len() {
            assert!(read_answer(&bytes[..end], 2).is_err(), "{end}");
        }
        assert!(read_answer(&[&bytes[..], &[0]].concat(), 2).is_err());
        assert!(read_answer(&bytes, 3).is_err());
    }
}
