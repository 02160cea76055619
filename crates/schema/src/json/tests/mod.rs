//! Tests of reading, comparing and writing; each file is one kind of question.

mod hostile;
mod laws;
mod reading;
mod values;

use super::{Document, ReadFault};
use crate::Limits;

/// Reads with the default limits for arguments.
fn read(text: impl AsRef<[u8]>) -> Result<Document, ReadFault> {
    Document::read(text.as_ref(), &Limits::default().arguments_text())
}

fn document(text: impl AsRef<[u8]>) -> Document {
    let text = text.as_ref();
    read(text).unwrap_or_else(|fault| panic!("{}: {fault:?}", String::from_utf8_lossy(text)))
}
