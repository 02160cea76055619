//! The JSON form of a snapshot, written and read.

use callgate_schema::json::{Kind, Node, Tape, write_string};

use super::snapshot::{Shown, keyword, not_finite};
use super::{EntityRef, EntitySnapshot, Moment, wrong};
use crate::value::is_finite;
use crate::{Json, Object, ValueError, ValueLimits};

impl EntitySnapshot {
    /// The JSON form: `ref`, `properties`, `title`, `subtitle`, `keywords`, `thumbnail_url`, `url`, `display_name`,
    /// `deep_link`, `updated_at`, `deleted`, `version`, `freshness`, in this order. Only the first two are always there:
    /// keywords where there are some, `deleted` where it is true, the others where they have a value.
    pub fn to_json(&self) -> Json {
        let mut out = Vec::with_capacity(self.properties.as_str().len() + 512);
        out.extend_from_slice(b"{\"ref\":");
        self.reference.write(&mut out);
        out.extend_from_slice(b",\"properties\":");
        out.extend_from_slice(self.properties.as_str().as_bytes());
        let shown = &self.shown;
        member(&mut out, b",\"title\":", shown.title.as_deref());
        member(&mut out, b",\"subtitle\":", shown.subtitle.as_deref());
        for (index, word) in self.keywords.iter().enumerate() {
            out.extend_from_slice(if index == 0 { b",\"keywords\":[" } else { b"," });
            write_string(&mut out, word);
        }
        if !self.keywords.is_empty() {
            out.push(b']');
        }
        member(&mut out, b",\"thumbnail_url\":", shown.thumbnail_url.as_deref());
        member(&mut out, b",\"url\":", shown.url.as_deref());
        member(&mut out, b",\"display_name\":", shown.display_name.as_deref());
        member(&mut out, b",\"deep_link\":", shown.deep_link.as_deref());
        if let Some(moment) = self.updated_at {
            member(&mut out, b",\"updated_at\":", Some(&moment.to_string()));
        }
        if self.deleted {
            out.extend_from_slice(b",\"deleted\":true");
        }
        member(&mut out, b",\"version\":", shown.version.as_deref());
        member(&mut out, b",\"freshness\":", shown.freshness.as_deref());
        out.push(b'}');
        Json::written(out)
    }

    /// Reads a snapshot, within the limits by default.
    ///
    /// Looks at `ref` and `properties` as objects, then at the fields of `ref`, then at the others in the order in which
    /// they are written. Members that a snapshot does not have are passed over; null is as good as none but for `ref`,
    /// its fields and `properties`.
    ///
    /// # Errors
    /// The codes of the reader; `entity-malformed` or `entity-date`, with the first field that is wrong.
    pub fn parse(text: impl AsRef<[u8]>) -> Result<EntitySnapshot, ValueError> {
        EntitySnapshot::parse_within(text, &ValueLimits::default())
    }

    /// Reads a snapshot.
    ///
    /// # Errors
    /// Those of [`EntitySnapshot::parse`].
    pub fn parse_within(text: impl AsRef<[u8]>, limits: &ValueLimits) -> Result<EntitySnapshot, ValueError> {
        let mut tape = Tape::new();
        let node = tape.read(text.as_ref(), &limits.text());
        EntitySnapshot::of(node.map_err(|fault| ValueError::read(&fault))?)
    }

    /// The snapshot that a value is which was read.
    ///
    /// # Errors
    /// `entity-malformed` or `entity-date`, as [`EntitySnapshot::parse`] says; `value-not-object` if it is no object.
    pub fn of(node: Node<'_>) -> Result<EntitySnapshot, ValueError> {
        if node.kind() != Kind::Object {
            return Err(ValueError::not_object(node.kind()).in_field("snapshot"));
        }
        let fields = Fields::of(node);
        let (reference, properties) = (fields.reference, fields.properties);
        let reference = reference.filter(|node| node.kind() == Kind::Object);
        let reference = reference.ok_or_else(|| wrong("ref", "an object", fields.reference))?;
        let properties = properties.filter(|node| node.kind() == Kind::Object);
        let properties = properties.ok_or_else(|| wrong("properties", "an object", fields.properties))?;
        let reference = EntityRef::of(reference)?;
        if !is_finite(properties) {
            return Err(not_finite());
        }
        let title = text("title", fields.title)?;
        let subtitle = text("subtitle", fields.subtitle)?;
        let keywords = keywords(fields.keywords)?;
        let thumbnail_url = text("thumbnail_url", fields.thumbnail_url)?;
        let url = text("url", fields.url)?;
        let display_name = text("display_name", fields.display_name)?;
        let deep_link = text("deep_link", fields.deep_link)?;
        let updated_at = updated_at(fields.updated_at)?;
        let deleted = match fields.deleted {
            None => false,
            Some(node) => node.as_bool().ok_or_else(|| wrong("deleted", "true or false", Some(node)))?,
        };
        let version = text("version", fields.version)?;
        let freshness = text("freshness", fields.freshness)?;
        Ok(EntitySnapshot {
            reference,
            properties: Object::of(properties).unwrap_or_default(),
            shown: Shown { title, subtitle, thumbnail_url, url, display_name, deep_link, version, freshness },
            keywords,
            updated_at,
            deleted,
        })
    }
}

macro_rules! fields {
    ($($name:ident $text:literal,)*) => {
        /// The members of a snapshot's object.
        #[derive(Default)]
        struct Fields<'a> {
            reference: Option<Node<'a>>,
            properties: Option<Node<'a>>,
            $($name: Option<Node<'a>>,)*
        }

        impl<'a> Fields<'a> {
            /// One walk over the members; of the optional ones, null is none.
            fn of(node: Node<'a>) -> Fields<'a> {
                let mut fields = Fields::default();
                for member in node.members() {
                    let value = member.value();
                    match &*member.name() {
                        "ref" => fields.reference = Some(value),
                        "properties" => fields.properties = Some(value),
                        $($text => fields.$name = Some(value).filter(|value| !value.is_null()),)*
                        _ => {}
                    }
                }
                fields
            }
        }
    };
}

fields! {
    title "title",
    subtitle "subtitle",
    keywords "keywords",
    thumbnail_url "thumbnail_url",
    url "url",
    display_name "display_name",
    deep_link "deep_link",
    updated_at "updated_at",
    deleted "deleted",
    version "version",
    freshness "freshness",
}

fn text(field: &str, node: Option<Node<'_>>) -> Result<Option<String>, ValueError> {
    let Some(node) = node else { return Ok(None) };
    let text = node.as_str().ok_or_else(|| wrong(field, "a text", Some(node)))?;
    Ok(Some(text.into_owned()))
}

fn keywords(node: Option<Node<'_>>) -> Result<Vec<String>, ValueError> {
    let Some(node) = node else { return Ok(Vec::new()) };
    if node.kind() != Kind::Array {
        return Err(wrong("keywords", "a list of texts", Some(node)));
    }
    node.items()
        .map(|item| keyword(&item.as_str().ok_or_else(|| wrong("keywords", "texts", Some(item)))?))
        .collect()
}

fn updated_at(node: Option<Node<'_>>) -> Result<Option<Moment>, ValueError> {
    let Some(node) = node else { return Ok(None) };
    let text = node.as_str().ok_or_else(|| wrong("updated_at", "a text", Some(node)))?;
    Moment::parse(&text).map(Some).map_err(|error| error.in_field("updated_at"))
}

fn member(out: &mut Vec<u8>, name: &[u8], text: Option<&str>) {
    if let Some(text) = text {
        out.extend_from_slice(name);
        write_string(out, text);
    }
}
