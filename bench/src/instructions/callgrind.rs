//! The format of callgrind's output, as far as it is needed: the instructions that each function spends itself.

/// Functions that the processor's abilities choose. Their part depends on the machine.
const CHOSEN: &[&str] = &["simdutf8", "memchr::", "sha2::"];
/// Objects that are not ours.
const LIBRARIES: &[&str] = &["libc.so", "libc-", "libm.so", "ld-linux"];

/// The sum over our own functions, of a text whose names are written out.
///
/// ```text
/// ob=/bin/program
/// fn=callgate::look            the function that what follows is about
/// 12 120                       line and instructions
/// cfn=callgate::tell           what it calls,
/// calls=3 0
/// 12 900                       with all that this spends: not counted here, it has lines of its own
/// ```
pub(super) fn instructions(text: &str) -> u64 {
    let (mut function_counts, mut object_counts, mut of_call) = (true, true, false);
    let mut sum = 0;
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("fn=") {
            function_counts = !CHOSEN.iter().any(|part| name.contains(part));
        } else if let Some(name) = line.strip_prefix("ob=") {
            object_counts = !LIBRARIES.iter().any(|part| name.contains(part));
        } else if line.starts_with("calls=") {
            of_call = true;
        } else if line.starts_with(|first: char| first.is_ascii_digit() || "+-*".contains(first)) {
            let spent = line.split_once(' ').and_then(|(_, spent)| spent.trim().parse::<u64>().ok());
            if function_counts && object_counts && !of_call {
                sum += spent.unwrap_or(0);
            }
            of_call = false;
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_our_functions_spend_themselves_counts() {
        let text = "events: Ir\n\nob=/bin/program\nfn=callgate::look\n10 120\n+2 3\n\
            cfn=simdutf8::validate\ncalls=3 0\n* 900\n-1 4\n\nfn=simdutf8::validate\n0 900\n\n\
            ob=/lib/libc.so.6\nfn=malloc\n0 50\n\nob=/bin/program\nfn=callgate::tell\n0 1\n\ntotals: 1078\n";
        assert_eq!(instructions(text), 128);
        assert_eq!(instructions(""), 0);
    }
}
