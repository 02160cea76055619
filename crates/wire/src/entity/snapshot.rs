//! What is known of an entity, built in code.

use callgate_schema::json::Tape;
use callgate_schema::text_map::trimmed;

use super::{EntityRef, Moment, malformed};
use crate::value::is_finite;
use crate::{Object, ValueError};

/// What is known of an entity: properties, and what people are shown.
///
/// The properties are JSON whose numbers a double can hold. Every keyword has something in it that is not blank.
/// Equality is that of all fields: keywords in their order, properties by value (`1` equals `1.0`, and the order of
/// members does not matter), times by the moment.
///
/// ```
/// use callgate_wire::{EntityRef, EntitySnapshot, Object};
/// let note = EntityRef::new("notes", "note", "note-1")?;
/// let snapshot = EntitySnapshot::new(note, Object::new().with("pinned", true))?
///     .with_title("Inbox note")
///     .with_keywords([" work ", "today"])?;
/// assert_eq!(
///     snapshot.to_json().as_str(),
///     r#"{"ref":{"namespace":"notes","type_name":"note","identifier":"note-1"},"properties":{"pinned":true},"title":"Inbox note","keywords":["work","today"]}"#
/// );
/// # Ok::<(), callgate_wire::ValueError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntitySnapshot {
    pub(super) reference: EntityRef,
    pub(super) properties: Object,
    pub(super) shown: Shown,
    pub(super) keywords: Vec<String>,
    pub(super) updated_at: Option<Moment>,
    pub(super) deleted: bool,
}

/// The fields that are any text or none.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Shown {
    pub(super) title: Option<String>,
    pub(super) subtitle: Option<String>,
    pub(super) thumbnail_url: Option<String>,
    pub(super) url: Option<String>,
    pub(super) display_name: Option<String>,
    pub(super) deep_link: Option<String>,
    pub(super) version: Option<String>,
    pub(super) freshness: Option<String>,
}

macro_rules! shown {
    ($($(#[$doc:meta])* $name:ident $with:ident,)*) => {
        impl EntitySnapshot {
            $(
                $(#[$doc])*
                pub fn $name(&self) -> Option<&str> {
                    self.shown.$name.as_deref()
                }

                /// The same with another value of this field; an empty text is a value too.
                #[must_use]
                pub fn $with(mut self, text: impl Into<String>) -> EntitySnapshot {
                    self.shown.$name = Some(text.into());
                    self
                }
            )*
        }
    };
}

shown! {
    /// The title.
    title with_title,
    /// The second line.
    subtitle with_subtitle,
    /// Where a small picture is; any text.
    thumbnail_url with_thumbnail_url,
    /// Where it is on the web; any text.
    url with_url,
    /// What it is called where it has no title.
    display_name with_display_name,
    /// The link that opens it in its app; any text.
    deep_link with_deep_link,
    /// The app's own version of it, which is not interpreted.
    version with_version,
    /// How fresh it is, in the app's own words, which are not interpreted.
    freshness with_freshness,
}

impl EntitySnapshot {
    /// A snapshot with properties and nothing else.
    ///
    /// # Errors
    /// `entity-malformed` with the field `properties` where a number is beyond a double.
    pub fn new(reference: EntityRef, properties: Object) -> Result<EntitySnapshot, ValueError> {
        if !is_finite(properties.read(&mut Tape::new())) {
            return Err(not_finite());
        }
        Ok(EntitySnapshot {
            reference,
            properties,
            shown: Shown::default(),
            keywords: Vec::new(),
            updated_at: None,
            deleted: false,
        })
    }

    /// The same with these keywords, trimmed; order and repeats stay.
    ///
    /// # Errors
    /// `entity-malformed` with the field `keywords` where one is blank.
    pub fn with_keywords<K: AsRef<str>>(
        mut self,
        keywords: impl IntoIterator<Item = K>,
    ) -> Result<EntitySnapshot, ValueError> {
        let keywords = keywords.into_iter().map(|word| keyword(word.as_ref()));
        self.keywords = keywords.collect::<Result<_, _>>()?;
        Ok(self)
    }

    /// The same with another time of its last change.
    #[must_use]
    pub const fn with_updated_at(mut self, moment: Moment) -> EntitySnapshot {
        self.updated_at = Some(moment);
        self
    }

    /// The same, gone or not.
    #[must_use]
    pub const fn with_deleted(mut self, deleted: bool) -> EntitySnapshot {
        self.deleted = deleted;
        self
    }

    /// Which entity.
    pub const fn reference(&self) -> &EntityRef {
        &self.reference
    }

    /// The app's own properties.
    pub const fn properties(&self) -> &Object {
        &self.properties
    }

    /// What it is found by.
    pub fn keywords(&self) -> &[String] {
        &self.keywords
    }

    /// When it was last changed.
    pub const fn updated_at(&self) -> Option<Moment> {
        self.updated_at
    }

    /// Whether it is gone.
    pub const fn deleted(&self) -> bool {
        self.deleted
    }

    /// What to show: the title, also an empty one; else the display name.
    pub fn effective_title(&self) -> Option<&str> {
        self.title().or(self.display_name())
    }
}

/// A keyword without the blanks around it.
pub(super) fn keyword(text: &str) -> Result<String, ValueError> {
    let text = trimmed(text);
    if text.is_empty() {
        return Err(malformed("keywords", "expected keywords that are not blank, found a blank one"));
    }
    Ok(text.to_owned())
}

pub(super) fn not_finite() -> ValueError {
    malformed("properties", "expected numbers that a double can hold, found one beyond")
        .with_help("write such a number as a text")
}
