//! The format of callgrind's output, as far as it is needed: the instructions that each function spends itself.

use std::collections::HashMap;

/// Functions that the processor's abilities choose, or that another library has. Their part depends on the machine.
const ELSEWHERE: &[&str] = &["simdutf8", "memchr::", "sha2::"];
/// Objects that are not ours.
const OBJECTS: &[&str] = &["libc.so", "libc-", "libm.so", "ld-linux"];

/// The sum over our own functions.
///
/// ```text
/// ob=(1) /bin/program          names stand once, later only their numbers
/// fn=(7) callgate::look        the function that what follows is about
/// 0 120                        place and instructions
/// cfn=(8)                      what it calls,
/// calls=3 0
/// 0 900                        with all that this spends: not counted here, it has its own lines
/// ```
pub(super) fn instructions(text: &str) -> u64 {
    let (mut functions, mut objects) = (Names::default(), Names::default());
    let (mut ours, mut object_ours, mut skip) = (true, true, false);
    let mut sum = 0;
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("fn=") {
            let name = functions.resolve(name);
            ours = !ELSEWHERE.iter().any(|part| name.contains(part));
        } else if let Some(name) = line.strip_prefix("ob=") {
            let name = objects.resolve(name);
            object_ours = !OBJECTS.iter().any(|part| name.contains(part));
        } else if let Some(name) = line.strip_prefix("cfn=") {
            functions.resolve(name);
        } else if let Some(name) = line.strip_prefix("cob=") {
            objects.resolve(name);
        } else if line.starts_with("calls=") {
            skip = true;
        } else if line.starts_with(|first: char| first.is_ascii_digit() || "+-*".contains(first)) {
            let spent = line.split_once(' ').and_then(|(_, spent)| spent.trim().parse::<u64>().ok());
            if ours && object_ours && !skip {
                sum += spent.unwrap_or(0);
            }
            skip = false;
        }
    }
    sum
}

#[derive(Default)]
struct Names<'a>(HashMap<&'a str, &'a str>);

impl<'a> Names<'a> {
    /// `(7) name` says what 7 is, `(7)` means it.
    fn resolve(&mut self, text: &'a str) -> &'a str {
        let Some((number, name)) = text.split_once(')') else { return text };
        let name = name.trim();
        if name.is_empty() {
            return self.0.get(number).copied().unwrap_or(text);
        }
        self.0.insert(number, name);
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_our_functions_spend_themselves_counts() {
        let text = "events: Ir\n\nob=(1) /bin/program\nfn=(1) callgate::look\n10 120\n+2 3\n\
            cfn=(2) simdutf8::validate\ncalls=3 0\n* 900\n-1 4\n\nfn=(2)\n0 900\n\n\
            ob=(2) /lib/libc.so.6\nfn=(3) malloc\n0 50\n\nob=(1)\nfn=(4) callgate::tell\n0 1\n\ntotals: 1078\n";
        assert_eq!(instructions(text), 128);
        assert_eq!(instructions(""), 0);
    }
}
