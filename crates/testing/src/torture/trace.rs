//! The lines of strace, as far as the order of writes and syncs needs them.

use anyhow::Context as _;

/// A system call of interest: where it begins and ends in the trace, and on which file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SystemCall {
    pub(super) name: String,
    /// The file's path, or `pipe:[N]` and the like.
    pub(super) file: String,
    /// The rest of the line: the data that is written, as strace shows it.
    pub(super) data: String,
    /// The number of the line on which it begins.
    pub(super) begin: usize,
    /// The number of the line on which it has returned; nothing if it never has.
    pub(super) end: Option<usize>,
}

/// Reads a trace made with `strace -f -y`: each line opens with the thread's id.
pub(super) fn read(text: &str) -> anyhow::Result<Vec<SystemCall>> {
    let mut calls: Vec<SystemCall> = Vec::new();
    // Of each thread, the call that has begun and not returned.
    let mut unfinished: std::collections::BTreeMap<&str, usize> = std::collections::BTreeMap::new();
    for (number, line) in text.lines().enumerate() {
        let (thread, rest) =
            line.trim_start().split_once(' ').with_context(|| format!("no thread: {line}"))?;
        let rest = rest.trim_start();
        if rest.starts_with("<... ") {
            if let Some(call) = unfinished.remove(thread).and_then(|index| calls.get_mut(index)) {
                call.end = Some(number);
            }
            continue;
        }
        // Signals and exits (`---`, `+++`) have no parenthesis at the start.
        let Some((name, arguments)) = rest.split_once('(') else { continue };
        let Some((descriptor, data)) = arguments.split_once('>') else { continue };
        let Some((_, file)) = descriptor.split_once('<') else { continue };
        let cut = line.ends_with("<unfinished ...>");
        if cut {
            unfinished.insert(thread, calls.len());
        }
        calls.push(SystemCall {
            name: name.to_owned(),
            file: file.to_owned(),
            data: data.to_owned(),
            begin: number,
            end: (!cut).then_some(number),
        });
    }
    Ok(calls)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_that_was_interrupted_in_the_trace_ends_where_it_is_resumed() {
        let text = "\
11 fdatasync(7</t/store-wal> <unfinished ...>
12 write(9<pipe:[5]>, \"{}\\n\", 3) = 3
11 <... fdatasync resumed>) = 0
11 +++ exited with 0 +++
";
        let calls = read(text).expect("a trace");
        let seen: Vec<_> =
            calls.iter().map(|call| (call.name.as_str(), call.file.as_str(), call.begin, call.end)).collect();
        assert_eq!(seen, [("fdatasync", "/t/store-wal", 0, Some(2)), ("write", "pipe:[5]", 1, Some(1))]);
    }
}
