//! The JSON form of a snapshot, written and read.

use callgate_schema::json::{Kind, Node, Tape};

use super::snapshot::{Shown, keyword, not_finite};
use super::{EntityRef, EntitySnapshot, Moment, wrong};
use crate::value::{compact_finite, push_text};
use crate::{Json, Object, ValueError, ValueLimits};

impl EntitySnapshot {
    /// The JSON form: `ref`, `properties`, `title`, `subtitle`, `keywords`, `thumbnail_url`, `url`, `display_name`,
    /// `deep_link`, `updated_at`, `deleted`, `version`, `freshness`, in this order. Only the first two are always there:
    /// keywords where there are some, `deleted` where it is true, the others where they have a value.
    pub fn to_json(&self) -> Json {
        let mut out = String::with_capacity(self.properties.as_str().len() + 512);
        out.push_str("{\"ref\":");
        self.reference.write(&mut out);
        out.push_str(",\"properties\":");
        out.push_str(self.properties.as_str());
        let shown = &self.shown;
        member(&mut out, ",\"title\":", shown.title.as_deref());
        member(&mut out, ",\"subtitle\":", shown.subtitle.as_deref());
        for (index, word) in self.keywords.iter().enumerate() {
            out.push_str(if index == 0 { ",\"keywords\":[" } else { "," });
            push_text(&mut out, word);
        }
        if !self.keywords.is_empty() {
            out.push(']');
        }
        member(&mut out, ",\"thumbnail_url\":", shown.thumbnail_url.as_deref());
        member(&mut out, ",\"url\":", shown.url.as_deref());
        member(&mut out, ",\"display_name\":", shown.display_name.as_deref());
        member(&mut out, ",\"deep_link\":", shown.deep_link.as_deref());
        if let Some(moment) = self.updated_at {
            out.push_str(",\"updated_at\":\"");
            moment.write(&mut out);
            out.push('"');
        }
        if self.deleted {
            out.push_str(",\"deleted\":true");
        }
        member(&mut out, ",\"version\":", shown.version.as_deref());
        member(&mut out, ",\"freshness\":", shown.freshness.as_deref());
        out.push('}');
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
        let [reference, properties, rest @ ..] = members(node);
        let is_object = |node: &Node<'_>| node.kind() == Kind::Object;
        let reference = reference.filter(is_object).ok_or_else(|| wrong("ref", "an object", reference))?;
        let properties =
            properties.filter(is_object).ok_or_else(|| wrong("properties", "an object", properties))?;
        // Of all others, null is as good as none.
        let [
            title,
            subtitle,
            words,
            thumbnail_url,
            url,
            display_name,
            deep_link,
            moment,
            deleted,
            version,
            freshness,
        ] = rest.map(|value| value.filter(|value| !value.is_null()));
        let reference = EntityRef::of(reference)?;
        let properties = compact_finite(properties).ok_or_else(not_finite)?;
        let title = text("title", title)?;
        let subtitle = text("subtitle", subtitle)?;
        let keywords = keywords(words)?;
        let thumbnail_url = text("thumbnail_url", thumbnail_url)?;
        let url = text("url", url)?;
        let display_name = text("display_name", display_name)?;
        let deep_link = text("deep_link", deep_link)?;
        let updated_at = updated_at(moment)?;
        let deleted = match deleted {
            None => false,
            Some(node) => node.as_bool().ok_or_else(|| wrong("deleted", "true or false", Some(node)))?,
        };
        let version = text("version", version)?;
        let freshness = text("freshness", freshness)?;
        Ok(EntitySnapshot {
            reference,
            properties: Object::written(properties),
            shown: Shown { title, subtitle, thumbnail_url, url, display_name, deep_link, version, freshness },
            keywords,
            updated_at,
            deleted,
        })
    }
}

/// The names of a snapshot's members, in their order.
const NAMES: [&str; 13] = [
    "ref",
    "properties",
    "title",
    "subtitle",
    "keywords",
    "thumbnail_url",
    "url",
    "display_name",
    "deep_link",
    "updated_at",
    "deleted",
    "version",
    "freshness",
];

/// The members of an object by [`NAMES`]. One walk; what stands in the order of the wire is found at once.
fn members(node: Node<'_>) -> [Option<Node<'_>>; 13] {
    let mut found = [None; 13];
    let mut next = 0;
    for member in node.members() {
        let places = (next..NAMES.len()).chain(0..next);
        for (place, slot) in places.filter_map(|place| Some((place, NAMES.get(place)?))) {
            if member.name_is(slot) {
                if let Some(slot) = found.get_mut(place) {
                    *slot = Some(member.value());
                }
                next = place + 1;
                break;
            }
        }
    }
    found
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

fn member(out: &mut String, name: &str, text: Option<&str>) {
    if let Some(text) = text {
        out.push_str(name);
        push_text(out, text);
    }
}
