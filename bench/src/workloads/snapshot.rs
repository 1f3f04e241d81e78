//! A workload as a snapshot file, one topic and one member a line.

use std::io::{self, Write};

use super::build::runs;
use super::{Workload, rack_name};

impl Workload {
    /// Writes the group as the command reads it. Topics and members are in the order of the workload, and a
    /// person can read the small ones.
    ///
    /// # Errors
    ///
    /// Those of `out`.
    pub fn write_snapshot(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "{{\n  \"assignor\": \"cooperative-sticky\",\n  \"topics\": {{")?;
        let existing: Vec<_> = (0u32..)
            .zip(&self.topics)
            .filter(|(number, _)| !self.deleted.contains(number))
            .map(|(_, topic)| topic)
            .collect();
        for (at, topic) in existing.iter().enumerate() {
            let comma = if at + 1 < existing.len() { "," } else { "" };
            if topic.racks.is_empty() {
                writeln!(out, "    \"{}\": {}{comma}", topic.name, topic.partitions)?;
                continue;
            }
            let set = |set: &Vec<u8>| {
                let names: Vec<String> = set.iter().map(|&rack| format!("\"{}\"", rack_name(rack))).collect();
                format!("[{}]", names.join(", "))
            };
            let racks: Vec<String> = topic.racks.iter().map(set).collect();
            let (name, partitions) = (&topic.name, topic.partitions);
            write!(out, "    \"{name}\": {{\"partitions\": {partitions}, ")?;
            writeln!(out, "\"racks\": [{}]}}{comma}", racks.join(", "))?;
        }
        writeln!(out, "  }},\n  \"members\": {{")?;
        for (at, member) in self.members.iter().enumerate() {
            write!(out, "    \"{}\": {{\"topics\": [", member.id)?;
            for (at, &topic) in member.topics.iter().enumerate() {
                let comma = if at == 0 { "" } else { ", " };
                write!(out, "{comma}\"{}\"", self.topics[topic as usize].name)?;
            }
            write!(out, "]")?;
            if !member.owned.is_empty() {
                self.write_owned(&member.owned, out)?;
            }
            if let Some(generation) = member.generation {
                write!(out, ", \"generation\": {generation}")?;
            }
            if let Some(rack) = member.rack {
                write!(out, ", \"rack\": \"{}\"", rack_name(rack))?;
            }
            writeln!(out, "}}{}", if at + 1 < self.members.len() { "," } else { "" })?;
        }
        writeln!(out, "  }}\n}}")
    }

    /// Ranges from three consecutive partitions on, as the command writes them.
    fn write_owned(&self, owned: &[(u32, u32)], out: &mut impl Write) -> io::Result<()> {
        write!(out, ", \"owned\": {{")?;
        for (at, topic) in owned.chunk_by(|a, b| a.0 == b.0).enumerate() {
            let comma = if at == 0 { "" } else { ", " };
            write!(out, "{comma}\"{}\": [", self.topics[topic[0].0 as usize].name)?;
            for (at, (_, from, to)) in runs(topic).enumerate() {
                let comma = if at == 0 { "" } else { ", " };
                match to - from {
                    0 => write!(out, "{comma}{from}")?,
                    1 => write!(out, "{comma}{from}, {to}")?,
                    _ => write!(out, "{comma}\"{from}-{to}\"")?,
                }
            }
            write!(out, "]")?;
        }
        write!(out, "}}")
    }
}
