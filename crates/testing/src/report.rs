//! Checks that are counted and printed one a line, with the closing line that every chore ends with.

/// The checks so far.
#[derive(Debug, Default)]
pub struct Report {
    passed: u32,
    failed: u32,
}

impl Report {
    /// Prints a line about what is being done.
    #[expect(clippy::print_stdout, reason = "the report is what the chore is for")]
    pub fn say(&self, line: &str) {
        println!("{line}");
    }

    /// Counts and prints one check; `fault` says what is wrong, if anything is.
    #[expect(clippy::print_stdout, reason = "the report is what the chore is for")]
    pub fn check(&mut self, name: &str, fault: Option<String>) {
        match fault {
            None => {
                self.passed += 1;
                println!("ok    {name}");
            }
            Some(fault) => {
                self.failed += 1;
                println!("FAIL  {name}: {fault}");
            }
        }
    }

    /// Prints the closing line; true when nothing failed.
    #[expect(clippy::print_stdout, reason = "the report is what the chore is for")]
    pub fn close(self) -> bool {
        println!("{} passed, {} failed", self.passed, self.failed);
        self.failed == 0
    }
}
