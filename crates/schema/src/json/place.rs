//! Where in a value a byte stands, for a text that was not taken. Only faults come here, so that the reader need not
//! keep its way.

use std::fmt::Write as _;

use super::scan::space;
use super::skim::string_end;
use super::text::unescaped;
use crate::location::write_escaped;

/// JSON Pointer of the innermost value that was open at `offset`, or was to start there. What stands before it must be
/// the start of a good text.
pub(super) fn pointer_at(text: &[u8], offset: usize) -> String {
    let before = text.get(..offset).unwrap_or(text);
    let mut open: Vec<Step<'_>> = Vec::new();
    // Is a value due or begun in the innermost container?
    let mut in_value = true;
    let mut at = 0;
    loop {
        at = space(before, at);
        let Some(&byte) = before.get(at) else { break };
        let start = at;
        at += 1;
        match byte {
            b'{' | b'[' => {
                open.push(if byte == b'{' { Step::Name(b"") } else { Step::Index(0) });
                in_value = byte == b'[';
            }
            b'}' | b']' => {
                open.pop();
                in_value = false;
            }
            b',' => {
                if let Some(Step::Index(index)) = open.last_mut() {
                    *index += 1;
                    in_value = true;
                }
            }
            b':' => in_value = true,
            b'"' => {
                let Some(quote) = string_end(before, start) else { break };
                at = quote + 1;
                match open.last_mut() {
                    Some(Step::Name(name)) if !in_value => {
                        *name = before.get(start + 1..quote).unwrap_or_default();
                    }
                    _ => in_value = false,
                }
            }
            _ => {
                let rest = before.get(at..).unwrap_or_default();
                at += rest
                    .iter()
                    .take_while(|&&byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
                    .count();
                // One that reaches the fault may not have been complete.
                in_value = at == before.len();
            }
        }
    }
    if !in_value {
        open.pop();
    }
    let mut pointer = String::new();
    for step in open {
        // Writing to a `String` does not fail.
        let _ = match step {
            Step::Index(index) => write!(pointer, "/{index}"),
            Step::Name(name) => {
                pointer.push('/');
                write_escaped(&mut pointer, &String::from_utf8_lossy(&unescaped(name, true)))
            }
        };
    }
    pointer
}

/// The way from a container that is open to the value within it that is.
enum Step<'a> {
    Name(&'a [u8]),
    Index(usize),
}
