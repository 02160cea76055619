//! The row that an index keeps of a snapshot.

use callgate_schema::json::Tape;

use super::{EntitySnapshot, EntityType};
use crate::{Json, Object};

impl EntitySnapshot {
    /// The row that an index keeps of the snapshot.
    ///
    /// All properties come first; then `id`, which is always the reference's identifier, and the type's own name for it;
    /// `title`, `subtitle` and `keywords` from the fields of the snapshot where the type has other names for them;
    /// `thumbnailUrl`, `url`, `deepLink`, `updatedAt`, `deleted`, `version`, `freshness` where they would be written;
    /// `properties` where there are some; and last the title, the second line and the keywords under the type's names,
    /// a property before a field of the snapshot, null being none; no such name takes the identifier's place.
    ///
    /// ```
    /// use callgate_wire::{EntityRef, EntitySnapshot, EntityType, Object};
    /// let memo = EntityType::new("memos", "memo", "id")?;
    /// let gone = EntitySnapshot::new(EntityRef::new("memos", "memo", "m-1")?, Object::new())?.with_deleted(true);
    /// assert_eq!(gone.project(&memo).as_str(), r#"{"id":"m-1","deleted":true}"#);
    /// # Ok::<(), callgate_wire::ValueError>(())
    /// ```
    pub fn project(&self, entity_type: &EntityType) -> Object {
        let keywords =
            || (!self.keywords.is_empty()).then(|| self.keywords.iter().map(String::as_str).collect());
        let of = |text: Option<&str>| text.map(Json::from);
        let fields = [
            ("title", entity_type.title_key(), of(self.effective_title())),
            ("subtitle", entity_type.subtitle_key(), of(self.subtitle())),
            ("keywords", entity_type.keywords_key(), keywords()),
        ];
        let mut row = self.properties.clone();
        let identifier = self.reference.identifier();
        row.set("id", identifier);
        if entity_type.identifier_name() != "id" {
            row.set(entity_type.identifier_name(), identifier);
        }
        for (name, key, value) in &fields {
            if name != key {
                put(&mut row, name, value.clone());
            }
        }
        put(&mut row, "thumbnailUrl", of(self.thumbnail_url()));
        put(&mut row, "url", of(self.url()));
        put(&mut row, "deepLink", of(self.deep_link()));
        put(&mut row, "updatedAt", self.updated_at.map(|moment| Json::from(moment.to_string())));
        put(&mut row, "deleted", self.deleted.then(|| Json::from(true)));
        put(&mut row, "version", of(self.version()));
        put(&mut row, "freshness", of(self.freshness()));
        if !self.properties.is_empty() {
            row.set("properties", self.properties.clone());
        }
        let mut tape = Tape::new();
        let properties = self.properties.read(&mut tape);
        // Whatever the type calls its title, the identifier stays the reference's.
        let is_free = |key: &str| key != "id" && key != entity_type.identifier_name();
        for (_, key, value) in fields.into_iter().filter(|(_, key, _)| is_free(key)) {
            let property = properties.member(key).filter(|value| !value.is_null()).map(Json::of);
            put(&mut row, key, property.or(value));
        }
        row
    }
}

fn put(row: &mut Object, name: &str, value: Option<Json>) {
    if let Some(value) = value {
        row.set(name, value);
    }
}
