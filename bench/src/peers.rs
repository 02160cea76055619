//! One schema in every engine, and the questions that all of them are asked.

use std::hint::black_box;

use anyhow::{Context as _, Result, anyhow};
use callgate_schema::Validator;
use serde_json::Value;

use crate::sonic::Sonic;

/// Names as they stand in the tables.
pub const OURS: &str = "callgate";
pub const JSONSCHEMA: &str = "jsonschema";
pub const BOON: &str = "boon";
pub const SONIC: &str = "sonic-rs + jsonschema";

/// The compiled schema of each engine.
#[derive(Debug)]
pub struct Engines {
    pub ours: Validator,
    jsonschema: jsonschema::Validator,
    on_sonic: jsonschema::Validator<Sonic>,
    boon: Boon,
}

/// Place and sentence of each violation, as one would send or log them.
pub type Told = Vec<(String, String)>;

impl Engines {
    /// Compiles a schema for all of them.
    ///
    /// # Errors
    /// The first engine that refuses the schema.
    pub fn compile(schema: &[u8]) -> Result<Engines> {
        let value: Value = serde_json::from_slice(schema)?;
        Ok(Engines {
            ours: compile_ours(schema)?,
            jsonschema: compile_jsonschema(&value)?,
            on_sonic: jsonschema::options_for::<Sonic>()
                .build(&value)
                .map_err(|error| anyhow!("{SONIC}: {error}"))?,
            boon: Boon::compile(&value)?,
        })
    }

    /// What each engine says of a text.
    pub fn verdicts(&self, text: &[u8]) -> Vec<(&'static str, bool)> {
        let value = serde_json::from_slice::<Value>(text);
        let of_value = |look: &dyn Fn(&Value) -> bool| value.as_ref().is_ok_and(look);
        vec![
            (OURS, self.ours_of(text)),
            ("callgate, told", self.ours_told(text).is_empty()),
            ("callgate of a Value", of_value(&|value| self.ours.is_valid(value))),
            ("callgate of a Value, told", of_value(&|value| self.ours_told_of_value(value).is_empty())),
            (JSONSCHEMA, self.jsonschema_of(text)),
            ("jsonschema, told", of_value(&|value| self.jsonschema_told_of_value(value).is_empty())),
            (SONIC, self.on_sonic_of(text)),
            (BOON, self.boon_of(text)),
        ]
    }

    pub fn ours_of(&self, text: &[u8]) -> bool {
        self.ours.is_valid_slice(black_box(text))
    }

    pub fn ours_told(&self, text: &[u8]) -> Told {
        let errors = self.ours.iter_errors_slice(black_box(text));
        errors.map(|error| (error.instance_path().to_string(), error.masked().to_owned())).collect()
    }

    pub fn ours_told_of_value(&self, value: &Value) -> Told {
        let errors = self.ours.iter_errors(black_box(value));
        errors.map(|error| (error.instance_path().to_string(), error.masked().to_owned())).collect()
    }

    pub fn jsonschema_of(&self, text: &[u8]) -> bool {
        serde_json::from_slice(black_box(text)).is_ok_and(|value| self.jsonschema.is_valid(&value))
    }

    pub fn jsonschema_of_value(&self, value: &Value) -> bool {
        self.jsonschema.is_valid(black_box(value))
    }

    pub fn jsonschema_told(&self, text: &[u8]) -> Told {
        let value = serde_json::from_slice(black_box(text)).unwrap_or_default();
        self.jsonschema_told_of_value(&value)
    }

    pub fn jsonschema_told_of_value(&self, value: &Value) -> Told {
        let errors = self.jsonschema.iter_errors(black_box(value));
        errors.map(|error| (error.instance_path().to_string(), error.to_string())).collect()
    }

    pub fn on_sonic_of(&self, text: &[u8]) -> bool {
        sonic_rs::from_slice::<sonic_rs::Value>(black_box(text))
            .is_ok_and(|value| self.on_sonic.is_valid(&value))
    }

    pub fn boon_of(&self, text: &[u8]) -> bool {
        serde_json::from_slice(black_box(text)).is_ok_and(|value| self.boon_of_value(&value))
    }

    pub fn boon_of_value(&self, value: &Value) -> bool {
        self.boon.schemas.validate(black_box(value), self.boon.index).is_ok()
    }

    /// Boon tells all violations in one text.
    pub fn boon_told(&self, text: &[u8]) -> String {
        let value = serde_json::from_slice(black_box(text)).unwrap_or_default();
        let verdict = self.boon.schemas.validate(&value, self.boon.index);
        verdict.err().map_or_else(String::new, |error| error.to_string())
    }
}

/// # Errors
/// The schema is refused.
pub fn compile_ours(schema: &[u8]) -> Result<Validator> {
    Validator::from_slice(black_box(schema)).map_err(|error| anyhow!("{OURS}: {error}"))
}

/// # Errors
/// The schema is refused.
pub fn compile_jsonschema(schema: &Value) -> Result<jsonschema::Validator> {
    jsonschema::validator_for(black_box(schema)).map_err(|error| anyhow!("{JSONSCHEMA}: {error}"))
}

/// Boon's arena with the one schema in it.
pub struct Boon {
    schemas: boon::Schemas,
    index: boon::SchemaIndex,
}

impl std::fmt::Debug for Boon {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Boon").finish_non_exhaustive()
    }
}

impl Boon {
    /// # Errors
    /// The schema is refused.
    pub fn compile(schema: &Value) -> Result<Boon> {
        const PLACE: &str = "https://bench.invalid/schema.json";
        let mut schemas = boon::Schemas::new();
        let mut compiler = boon::Compiler::new();
        compiler
            .add_resource(PLACE, black_box(schema).clone())
            .map_err(|error| anyhow!("{error}"))
            .and_then(|()| compiler.compile(PLACE, &mut schemas).map_err(|error| anyhow!("{error}")))
            .map(|index| Boon { schemas, index })
            .context(BOON)
    }
}
