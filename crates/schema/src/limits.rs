//! Every maximum of the engine, in one place, each with its reason.

use crate::json::ReadLimits;

/// The maxima of the engine.
///
/// What exceeds one is answered with [`crate::Class::ExecutionFailure`], naming the limit and its number; only a
/// pattern's own limits are faults of the schema ([`crate::Class::Validation`]).
///
/// ```
/// let mut limits = callgate_schema::Limits::default();
/// assert!(limits.set("arguments_depth", 16));
/// assert_eq!(limits.arguments_depth_max, 16);
/// assert!(!limits.set("no_such_limit", 1));
/// assert!(limits.set("evaluation_depth", u64::MAX));
/// assert_eq!(limits.evaluation_depth_max, 1_024, "the stack has an end");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of a schema's text. The largest of about 4,000 public tool schemas has 84 KB.
    pub schema_bytes_max: u64,
    /// Nesting of a schema's text.
    pub schema_depth_max: u64,
    /// Values in a schema's text, names not counted.
    pub schema_nodes_max: u64,
    /// References in a schema.
    pub references_max: u64,
    /// UTF-8 bytes of a pattern in profile `portable`, as its document says.
    pub portable_pattern_bytes_max: u64,
    /// UTF-8 bytes of a pattern elsewhere.
    pub pattern_bytes_max: u64,
    /// Groups within groups in a pattern.
    pub pattern_nesting_max: u64,
    /// The largest count in a pattern's quantifier.
    pub pattern_count_max: u64,
    /// Bytes of a pattern's compiled form, estimated before it is built.
    pub pattern_compiled_bytes_max: u64,
    /// Bytes of the compiled forms of a schema's patterns together.
    pub patterns_compiled_bytes_max: u64,
    /// Bytes of the arguments' text.
    pub arguments_bytes_max: u64,
    /// Nesting of the arguments.
    pub arguments_depth_max: u64,
    /// Values in the arguments, names not counted.
    pub arguments_nodes_max: u64,
    /// Digits of one number, so that exact comparison stays cheap.
    pub number_digits_max: u64,
    /// The largest exponent of a number, up or down.
    pub number_exponent_max: u64,
    /// Work of one check, whatever the size of the input.
    pub work_base: u64,
    /// Further work of one check for each byte of input, so that large inputs are not refused for their size.
    pub work_per_byte: u64,
    /// Subschemas entered within each other during a check; bounds the stack.
    pub evaluation_depth_max: u64,
    /// Texts of JSON within each other that a coercion reads, and the turns that it takes until nothing changes; each
    /// may copy the arguments once, so this bounds the memory.
    pub coercion_rounds_max: u64,
    /// Findings in one report.
    pub findings_max: u64,
}

/// The most that a limit can be set to, where more would cost the stack, or minutes in one step.
const CEILINGS: &[(&str, u64)] = &[
    ("evaluation_depth", 1_024),
    ("coercion_rounds", 64),
    ("schema_depth", 1_024),
    ("number_digits", 1 << 20),
    ("number_exponent", 1 << 20),
    ("pattern_compiled_bytes", 16 << 20),
    ("patterns_compiled_bytes", 256 << 20),
];

impl Default for Limits {
    fn default() -> Self {
        Limits {
            schema_bytes_max: 1 << 20,
            schema_depth_max: 128,
            schema_nodes_max: 100_000,
            references_max: 10_000,
            portable_pattern_bytes_max: 1_024,
            pattern_bytes_max: 64 << 10,
            pattern_nesting_max: 250,
            pattern_count_max: 65_535,
            pattern_compiled_bytes_max: 1 << 20,
            patterns_compiled_bytes_max: 16 << 20,
            arguments_bytes_max: 8 << 20,
            arguments_depth_max: 128,
            arguments_nodes_max: 1_000_000,
            number_digits_max: 4_096,
            number_exponent_max: 4_096,
            work_base: 4_000_000,
            work_per_byte: 32,
            evaluation_depth_max: 1_024,
            coercion_rounds_max: 16,
            findings_max: 100,
        }
    }
}

impl Limits {
    /// Sets a limit by the name that refusals report; `false` if there is none of that name.
    ///
    /// `work` sets the whole allowance of a check; `bytes`, `depth` and `nodes` mean those of the arguments. What bounds
    /// the stack, or the cost of one step, is never raised above its ceiling: `evaluation_depth` and the depths of
    /// texts, the sizes of numbers and of compiled patterns.
    pub fn set(&mut self, name: &str, value: u64) -> bool {
        let value =
            CEILINGS.iter().find(|(known, _)| *known == name).map_or(value, |(_, most)| value.min(*most));
        let slot = match name {
            "schema_bytes" => &mut self.schema_bytes_max,
            "schema_depth" => &mut self.schema_depth_max,
            "schema_nodes" => &mut self.schema_nodes_max,
            "references" => &mut self.references_max,
            "portable_pattern_bytes" => &mut self.portable_pattern_bytes_max,
            "pattern_bytes" => &mut self.pattern_bytes_max,
            "pattern_nesting" => &mut self.pattern_nesting_max,
            "pattern_count" => &mut self.pattern_count_max,
            "pattern_compiled_bytes" => &mut self.pattern_compiled_bytes_max,
            "patterns_compiled_bytes" => &mut self.patterns_compiled_bytes_max,
            "arguments_bytes" | "bytes" => &mut self.arguments_bytes_max,
            "arguments_depth" | "depth" => &mut self.arguments_depth_max,
            "arguments_nodes" | "nodes" => &mut self.arguments_nodes_max,
            "number_digits" => &mut self.number_digits_max,
            "number_exponent" => &mut self.number_exponent_max,
            "evaluation_depth" => &mut self.evaluation_depth_max,
            "coercion_rounds" => &mut self.coercion_rounds_max,
            "findings" => &mut self.findings_max,
            "work" => {
                self.work_per_byte = 0;
                &mut self.work_base
            }
            _ => return false,
        };
        *slot = value;
        true
    }

    /// The limits for reading a schema's text.
    pub fn schema_text(&self) -> ReadLimits {
        ReadLimits {
            subject: "schema",
            bytes_max: self.schema_bytes_max,
            depth_max: self.schema_depth_max,
            nodes_max: self.schema_nodes_max,
            number_digits_max: self.number_digits_max,
            number_exponent_max: self.number_exponent_max,
        }
    }

    /// The limits for reading the text of arguments or of another value that is checked.
    pub fn arguments_text(&self) -> ReadLimits {
        ReadLimits {
            subject: "arguments",
            bytes_max: self.arguments_bytes_max,
            depth_max: self.arguments_depth_max,
            nodes_max: self.arguments_nodes_max,
            number_digits_max: self.number_digits_max,
            number_exponent_max: self.number_exponent_max,
        }
    }

    /// The work allowance of one check of `bytes` bytes of input.
    pub fn work_for(&self, bytes: usize) -> u64 {
        self.work_base.saturating_add(self.work_per_byte.saturating_mul(bytes as u64))
    }
}
