//! Bytes and text from a file or standard input, for the commands that read and write wire formats.

use tenure_cli::codec::{CodecFailure, FormatName, unhex_text};

use super::decode::Form;
use super::input::Source;
use crate::failure::Failure;

/// The format called `name`.
pub(super) fn format(name: &str) -> Result<FormatName, Failure> {
    FormatName::find(name).ok_or_else(|| Failure::input(CodecFailure::UnknownFormat(name.to_owned())))
}

/// Text, which must be UTF-8.
pub(super) fn text(source: &Source) -> Result<String, Failure> {
    String::from_utf8(source.read()?).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Failure::input(format_args!("{source}: byte {at} is not UTF-8; JSON must be"))
    })
}

/// Bytes in one of their forms.
pub(super) fn bytes(source: &Source, form: Form) -> Result<Vec<u8>, Failure> {
    let raw = source.read()?;
    if form == Form::Binary {
        return Ok(raw);
    }
    match (core::str::from_utf8(&raw).ok().and_then(unhex_text), form) {
        (Some(bytes), _) => Ok(bytes),
        (None, Form::Hex) => Err(Failure::input(format_args!(
            "{source}: not hexadecimal digits in pairs; --from binary takes the bytes as they are"
        ))),
        (None, _) => Ok(raw),
    }
}
