//! Which entries can be listed, and under which name or URI.

use callgate_gateway::registry::{Entry, EntryKind};
use callgate_wire::{Scheme, UriTemplate};

/// An entry that is listed.
#[derive(Debug)]
pub(super) struct Published {
    pub(super) key: String,
    pub(super) description: String,
    pub(super) target: Target,
}

#[derive(Debug)]
pub(super) enum Target {
    Tool {
        /// As it is listed.
        definition: Box<[u8]>,
        has_output_schema: bool,
    },
    Resource {
        uri: UriTemplate,
        is_template: bool,
        media_type: String,
    },
}

/// Characters of a tool's name.
const NAME_MAX: usize = 128;

impl Published {
    /// The entry as it is listed beside the others, or why it cannot be.
    pub(super) fn of(entry: &Entry, scheme: Option<&Scheme>, others: &[Published]) -> Result<Self, String> {
        let descriptor = entry.descriptor();
        let target = match descriptor.kind() {
            EntryKind::Tool => Target::Tool {
                definition: definition(entry)?,
                has_output_schema: descriptor.output_schema.is_some(),
            },
            EntryKind::Resource => {
                let uri = descriptor
                    .resource_uri(scheme)
                    .ok_or("expected a URI of its own, or a scheme of the app's, found neither")?;
                let uri = UriTemplate::new(uri).map_err(|error| error.to_string())?;
                if let Some(other) =
                    others.iter().find(|other| other.key != entry.key() && other.is_read_at(&uri))
                {
                    let (uri, key) = (uri.as_str(), &other.key);
                    return Err(format!(
                        "expected a URI of its own, found `{uri}`, which is that of `{key}`"
                    ));
                }
                let media_type = descriptor.media_type.clone();
                Target::Resource { uri, is_template: descriptor.is_template(), media_type }
            }
        };
        Ok(Published { key: entry.key().to_owned(), description: descriptor.description.clone(), target })
    }

    fn is_read_at(&self, asked: &UriTemplate) -> bool {
        matches!(&self.target, Target::Resource { uri, .. } if uri.as_str() == asked.as_str())
    }
}

fn definition(entry: &Entry) -> Result<Box<[u8]>, String> {
    let fits = (1..=NAME_MAX).contains(&entry.key().len());
    let legal = entry.key().bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte));
    if !(fits && legal) {
        return Err(format!(
            "expected a tool's name of 1 to {NAME_MAX} letters, digits, `_`, `-` and `.`, found another text"
        ));
    }
    entry.tool().map(|tool| tool.definition.clone()).ok_or_else(|| "the tool was not admitted".to_owned())
}
