//! Programs by the content of their schemas, within a bound.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use sha2::{Digest as _, Sha256};

use crate::{CompileError, Options, Program};

/// Compiled programs by the digest of their schema's text, all with the same options. Shared between threads.
///
/// When the programs together take more bytes than allowed, those that were not asked for the longest go first. One that
/// alone takes more is not kept. Schemas that are refused are not kept either.
///
/// ```
/// use callgate_schema::{Options, Profile, ProgramCache};
///
/// let cache = ProgramCache::new(Options::tool(Profile::Standard), 1 << 20);
/// let first = cache.compile(br#"{"type": "object"}"#).expect("it is enforceable");
/// let second = cache.compile(br#"{"type": "object"}"#).expect("it is enforceable");
/// assert_eq!(first.digest(), second.digest());
/// assert_eq!(cache.len(), 1);
/// ```
#[derive(Debug)]
pub struct ProgramCache {
    options: Options,
    bytes_max: u64,
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    programs: HashMap<[u8; 32], Entry>,
    bytes: u64,
    /// Counts questions, to tell which program was asked for last.
    clock: u64,
}

#[derive(Debug)]
struct Entry {
    program: Program,
    bytes: u64,
    asked: u64,
}

impl ProgramCache {
    /// A cache of programs with these options that keeps at most so many bytes of them.
    pub fn new(options: Options, bytes_max: u64) -> Self {
        ProgramCache { options, bytes_max, kept: Mutex::default() }
    }

    /// The program of a schema's text, compiled now or before. Compiling does not hold others up.
    ///
    /// # Errors
    /// Those of [`Program::compile`].
    pub fn compile(&self, schema: &[u8]) -> Result<Program, CompileError> {
        let key: [u8; 32] = Sha256::digest(schema).into();
        if let Some(program) = self.lock().find(&key) {
            return Ok(program);
        }
        let program = Program::compile(schema, &self.options)?;
        self.lock().keep(key, program.clone(), self.bytes_max);
        Ok(program)
    }

    /// How many programs are kept.
    pub fn len(&self) -> usize {
        self.lock().programs.len()
    }

    /// Whether none is kept.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes that the kept programs take together.
    pub fn bytes(&self) -> u64 {
        self.lock().bytes
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Kept> {
        // Nothing in here can be left half done.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    fn find(&mut self, key: &[u8; 32]) -> Option<Program> {
        self.clock += 1;
        let entry = self.programs.get_mut(key)?;
        entry.asked = self.clock;
        Some(entry.program.clone())
    }

    fn keep(&mut self, key: [u8; 32], program: Program, bytes_max: u64) {
        let bytes = program.bytes();
        if bytes > bytes_max || self.programs.contains_key(&key) {
            return;
        }
        while self.bytes + bytes > bytes_max {
            let oldest = self.programs.iter().min_by_key(|(_, entry)| entry.asked).map(|(key, _)| *key);
            let Some(gone) = oldest.and_then(|oldest| self.programs.remove(&oldest)) else { break };
            self.bytes -= gone.bytes;
        }
        self.bytes += bytes;
        self.programs.insert(key, Entry { program, bytes, asked: self.clock });
    }
}
