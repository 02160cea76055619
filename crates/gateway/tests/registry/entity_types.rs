//! Types of entities.

use callgate_gateway::registry::RegistryError;
use callgate_schema::{Options, Profile, Program};
use callgate_wire::{EntityProperty, EntityType, PropertyRole, PropertyType};

use super::registry;

fn note() -> EntityType {
    EntityType::new("notes", "note", "noteId").unwrap()
}

#[test]
fn a_type_is_registered_listed_found_and_taken_back_like_an_entry() {
    let registry = registry();
    assert_eq!(registry.register_entity_type(note()).unwrap(), "notes_note");
    assert!(matches!(registry.register_entity_type(note()), Err(RegistryError::Collision { .. })));
    registry.register_entity_type(EntityType::new("files", "file", "id").unwrap()).unwrap();
    let keys = |types: Vec<std::sync::Arc<EntityType>>| {
        types.iter().map(|one| one.qualified_name()).collect::<Vec<_>>()
    };
    assert_eq!(keys(registry.entity_types()), ["notes_note", "files_file"]);
    assert_eq!(keys(registry.entity_types_of("files")), ["files_file"]);
    assert_eq!(*registry.entity_type("notes_note").unwrap(), note());
    assert!(registry.unregister_entity_type("notes_note") && !registry.unregister_entity_type("notes_note"));
    assert!(registry.entity_type("notes_note").is_none());
    registry.register_entity_type(note()).unwrap();
}

#[test]
fn names_of_a_type_and_its_parts_follow_their_rules() {
    for (good, name) in [(true, "noteId"), (true, "_id"), (false, "note-id"), (false, "1st"), (false, "")] {
        assert_eq!(EntityType::new("notes", "note", name).is_ok(), good, "{name}");
    }
    for (good, name) in [(true, "due_at"), (false, "dueAt"), (false, "due-at"), (false, "")] {
        let property = EntityProperty::new(name, PropertyType::String);
        assert_eq!(note().with_property(property).is_ok(), good, "{name}");
    }
    let twice = note()
        .with_property(EntityProperty::new("title", PropertyType::String))
        .and_then(|one| one.with_property(EntityProperty::new("title", PropertyType::Integer)));
    assert!(twice.is_err());
}

#[test]
fn the_keys_of_a_row_come_from_roles_then_from_what_is_shown_and_searched_then_from_the_words() {
    let shown = |name: &str| EntityProperty::new(name, PropertyType::String).displayed();
    assert_eq!(
        (note().title_key(), note().subtitle_key(), note().keywords_key()),
        ("title", "subtitle", "keywords")
    );
    let of_display = note()
        .with_property(shown("head"))
        .and_then(|one| one.with_property(shown("line")))
        .and_then(|one| one.with_property(EntityProperty::new("tags", PropertyType::Array).searched()))
        .unwrap();
    assert_eq!(
        (of_display.title_key(), of_display.subtitle_key(), of_display.keywords_key()),
        ("head", "line", "tags")
    );
    let role = EntityProperty::new("name", PropertyType::String).with_role(PropertyRole::Title);
    assert_eq!(of_display.clone().with_property(role.clone()).unwrap().title_key(), "name");
    let two = of_display.with_property(role).unwrap();
    let rival = EntityProperty::new("other", PropertyType::String).with_role(PropertyRole::Title);
    assert!(two.with_property(rival).is_err(), "two properties with one role");
}

#[test]
fn what_is_shown_searched_and_indexed_are_the_properties_that_say_so_or_have_a_role_that_does() {
    let property = |name: &str| EntityProperty::new(name, PropertyType::String);
    let all = [
        property("plain"),
        property("shown").displayed(),
        property("found").searched(),
        EntityProperty { indexed: true, ..property("kept") },
        property("head").with_role(PropertyRole::Title),
        property("line").with_role(PropertyRole::Subtitle),
        property("tags").with_role(PropertyRole::Keywords),
    ];
    let made = all.into_iter().try_fold(note(), EntityType::with_property).unwrap();
    let names = |chosen: Vec<&EntityProperty>| chosen.iter().map(|one| one.name.clone()).collect::<Vec<_>>();
    assert_eq!(names(made.shown().collect()), ["shown", "head", "line"]);
    assert_eq!(names(made.searched().collect()), ["found", "line", "tags"]);
    assert_eq!(names(made.indexed().collect()), ["kept"]);
}

#[test]
fn a_property_says_nothing_unless_it_is_told_to_and_has_one_of_six_types() {
    let plain = EntityProperty::new("a", PropertyType::String);
    assert!(!plain.display && !plain.searchable && !plain.indexed && plain.role.is_none());
    for word in ["string", "integer", "number", "boolean", "object", "array"] {
        assert_eq!(PropertyType::parse(word).unwrap().as_str(), word);
    }
    for word in ["null", "text", "String", ""] {
        assert!(PropertyType::parse(word).is_none(), "{word}");
    }
}

#[test]
fn the_schema_of_a_type_needs_the_identifier_and_every_profile_takes_it() {
    let tagged =
        EntityProperty::new("tags", PropertyType::Array).searched().with_role(PropertyRole::Keywords);
    let schema = note()
        .with_property(EntityProperty::new("rank", PropertyType::Integer).displayed())
        .and_then(|one| one.with_property(tagged))
        .unwrap()
        .schema();
    assert_eq!(
        schema.as_str(),
        r#"{"type":"object","required":["noteId"],"properties":{"noteId":{"type":"string"},"rank":{"type":"integer"},"tags":{"type":"array"}}}"#
    );
    for profile in [Profile::Standard, Profile::Portable, Profile::Wire] {
        let compiled = Program::compile(schema.as_str().as_bytes(), &Options::tool(profile));
        assert!(compiled.is_ok(), "{profile:?}: {:?}", compiled.err());
    }
    let named = EntityType::new("notes", "note", "id").unwrap();
    let twice = named.with_property(EntityProperty::new("id", PropertyType::Integer)).unwrap().schema();
    assert!(twice.as_str().contains(r#""properties":{"id":{"type":"string"}}"#), "the identifier is a text");
}
