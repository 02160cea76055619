//! Schemas and values for them, made from bytes.

mod choices;
mod json;
mod schemas;
mod values;

use choices::Choices;
use json::Json;

/// Values made for each schema.
const VALUES: usize = 6;

/// A schema with values: some at random, most aimed at it and then changed here and there.
#[derive(Debug, Clone)]
pub(crate) struct Made {
    pub(crate) schema: String,
    pub(crate) values: Vec<String>,
    pub(crate) draft_07: bool,
}

/// The same for the same bytes; simpler for fewer.
pub(crate) fn made(bytes: &[u8]) -> Made {
    // Each has bytes of its own, so that a large schema leaves some for the values.
    let (for_schema, for_values) = bytes.split_at(bytes.len() / 2);
    let choices = &mut Choices::new(for_schema);
    let draft_07 = choices.one_in(4);
    let schema = schemas::root(choices, draft_07);
    let choices = &mut Choices::new(for_values);
    let values = (0..VALUES).map(|_| value(choices, &schema).written()).collect();
    Made { schema: schema.written(), values, draft_07 }
}

fn value(choices: &mut Choices<'_>, schema: &Json) -> Json {
    let mut value = match choices.pick(6) {
        0 => values::any(choices, 3),
        _ => values::aimed(choices, schema, schema, 5),
    };
    for _ in 0..choices.pick(4) {
        values::near(choices, &mut value);
    }
    value
}
