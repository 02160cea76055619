//! Entities: times beside jiff, snapshots read back, and texts that are no snapshots.
#![expect(clippy::unwrap_used, reason = "a generator that fails is a failed test")]

use crate::generate;

use callgate_schema::json::Tape;
use callgate_wire::{
    EntityProperty, EntityRef, EntitySnapshot, EntityType, Moment, Object, PropertyRole, PropertyType,
    ValueLimits,
};
use proptest::prelude::*;

fn note() -> EntityRef {
    EntityRef::new("notes", "note", "note-1").unwrap()
}

#[test]
fn a_snapshot_is_written_in_the_order_of_the_wire() {
    let properties = Object::parse(r#"{"pinned":true,"rank":3.0,"tags":["work","today"]}"#).unwrap();
    let snapshot = EntitySnapshot::new(note(), properties)
        .unwrap()
        .with_freshness("fresh")
        .with_version("rev-7")
        .with_deleted(true)
        .with_updated_at(Moment::parse("2026-06-29 14:00+02").unwrap())
        .with_deep_link("demoapp://notes/note-1")
        .with_display_name("Note")
        .with_url("https://example.org/1")
        .with_thumbnail_url("")
        .with_keywords([" work\u{feff}", "today"])
        .unwrap()
        .with_subtitle("Due \"today\"")
        .with_title("Inbox note");
    insta::assert_snapshot!(snapshot.to_json(), @r#"{"ref":{"namespace":"notes","type_name":"note","identifier":"note-1"},"properties":{"pinned":true,"rank":3.0,"tags":["work","today"]},"title":"Inbox note","subtitle":"Due \"today\"","keywords":["work","today"],"thumbnail_url":"","url":"https://example.org/1","display_name":"Note","deep_link":"demoapp://notes/note-1","updated_at":"2026-06-29T12:00:00.000Z","deleted":true,"version":"rev-7","freshness":"fresh"}"#);
    assert_eq!(EntitySnapshot::parse(snapshot.to_json().as_str()).unwrap(), snapshot);
}

#[test]
fn what_cannot_be_is_refused_in_code_too() {
    let infinite = Object::parse(r#"{"a":[1e999]}"#).unwrap();
    assert_eq!(EntitySnapshot::new(note(), infinite).unwrap_err().field(), Some("properties"));
    let largest = Object::parse(r#"{"a":1.7976931348623157e308,"b":-1e-999}"#).unwrap();
    let snapshot = EntitySnapshot::new(note(), largest).unwrap();
    assert_eq!(snapshot.with_keywords(["a", " \u{feff}"]).unwrap_err().field(), Some("keywords"));
    assert_eq!(EntityRef::new("", "", "").unwrap_err().field(), Some("namespace"));
    assert!(Moment::from_unix_micros(i64::MAX).is_none() && Moment::from_unix_micros(i64::MIN).is_none());
}

#[test]
fn a_local_time_with_an_offset_is_converted_and_not_relabelled() {
    for (text, utc) in [
        ("2022-03-05T09:10:00+01:00", "2022-03-05T08:10:00.000Z"),
        ("2026-11-01T01:30:00-06:00", "2026-11-01T07:30:00.000Z"),
        ("2026-11-01T01:30:00-07:00", "2026-11-01T08:30:00.000Z"),
        ("2026-06-13T00:06:00Z", "2026-06-13T00:06:00.000Z"),
    ] {
        assert_eq!(Moment::parse(text).unwrap().to_string(), utc);
    }
}

#[test]
fn the_first_and_the_last_moment_are_written_and_read_back() {
    for (micros, text) in [
        (8_640_000_000_000_000_000, "+275760-09-13T00:00:00.000Z"),
        (-8_640_000_000_000_000_000, "-271821-04-20T00:00:00.000Z"),
        (0, "1970-01-01T00:00:00.000Z"),
        (-1, "1969-12-31T23:59:59.999999Z"),
    ] {
        let moment = Moment::from_unix_micros(micros).unwrap();
        assert_eq!(moment.to_string(), text);
        assert_eq!(Moment::parse(text).unwrap(), moment);
    }
}

#[test]
fn roles_and_flags_say_which_property_is_shown_where() {
    let property = |name: &str| EntityProperty::new(name, PropertyType::String);
    let keys = |properties: &[EntityProperty]| {
        let start = EntityType::new("n", "t", "id").unwrap();
        let entity_type =
            properties.iter().try_fold(start, |all, one| all.with_property(one.clone())).unwrap();
        [entity_type.title_key(), entity_type.subtitle_key(), entity_type.keywords_key()].map(str::to_owned)
    };
    let list = EntityProperty::new("tags", PropertyType::Array).searched();
    assert_eq!(keys(&[]), ["title", "subtitle", "keywords"]);
    assert_eq!(keys(&[property("a").displayed(), list.clone()]), ["a", "tags", "tags"]);
    assert_eq!(keys(&[property("a").displayed(), property("b").displayed(), list]), ["a", "b", "tags"]);
    assert_eq!(
        keys(&[property("a").displayed(), property("b").displayed().with_role(PropertyRole::Title)]),
        ["b", "a", "keywords"]
    );
}

#[test]
fn what_is_too_large_or_too_deep_is_refused_by_its_limit() {
    let deep = |depth: usize| format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
    let text = |inner: &str| {
        format!(
            r#"{{"ref":{{"namespace":"n","type_name":"t","identifier":"i"}},"properties":{{"a":{inner}}}}}"#
        )
    };
    assert!(EntitySnapshot::parse(text(&deep(126))).is_ok());
    for hostile in [text(&deep(127)), text(&deep(1_000_000)), "[".repeat(5_000_000)] {
        let error = EntitySnapshot::parse(&hostile).unwrap_err();
        assert_eq!((error.code(), error.class().as_str()), ("limit-exceeded", "execution_failure"));
    }
    let limits = ValueLimits { nodes_max: 6, ..ValueLimits::default() };
    assert!(EntitySnapshot::parse_within(text("1"), &limits).is_err());
    let limits = ValueLimits { bytes_max: 100, ..ValueLimits::default() };
    assert!(
        EntitySnapshot::parse_within(text("\"0123456789012345678901234567890123456789\""), &limits).is_err()
    );
    assert_eq!(EntitySnapshot::parse(text(&"9".repeat(5_000))).unwrap_err().code(), "limit-exceeded");
}

fn moment() -> impl Strategy<Value = Moment> {
    (-8_640_000_000_000_000_000i64..=8_640_000_000_000_000_000)
        .prop_map(|micros| Moment::from_unix_micros(micros).unwrap())
}

fn snapshot() -> impl Strategy<Value = EntitySnapshot> {
    let words = proptest::collection::vec("[a-z]{1,5}", 0..4);
    let shown = proptest::collection::vec(proptest::option::of(generate::text()), 8);
    (generate::object(), words, shown, proptest::option::of(moment()), any::<bool>()).prop_filter_map(
        "properties that a double holds",
        |(properties, words, shown, moment, deleted)| {
            let mut snapshot = EntitySnapshot::new(note(), properties).ok()?.with_keywords(words).ok()?;
            let set: [fn(EntitySnapshot, String) -> EntitySnapshot; 8] = [
                EntitySnapshot::with_title,
                EntitySnapshot::with_subtitle,
                EntitySnapshot::with_thumbnail_url,
                EntitySnapshot::with_url,
                EntitySnapshot::with_display_name,
                EntitySnapshot::with_deep_link,
                EntitySnapshot::with_version,
                EntitySnapshot::with_freshness,
            ];
            for (set, text) in set.into_iter().zip(shown) {
                if let Some(text) = text {
                    snapshot = set(snapshot, text);
                }
            }
            let snapshot = snapshot.with_deleted(deleted);
            Some(match moment {
                Some(moment) => snapshot.with_updated_at(moment),
                None => snapshot,
            })
        },
    )
}

/// Texts that look like snapshots, with any value under any of their names.
fn nearly_a_snapshot() -> impl Strategy<Value = String> {
    let names = prop_oneof![
        Just("ref"),
        Just("properties"),
        Just("title"),
        Just("keywords"),
        Just("updated_at"),
        Just("deleted"),
        Just("freshness"),
        Just("other"),
    ];
    let value = prop_oneof![
        3 => generate::json_text(),
        1 => Just(r#"{"namespace":"n","type_name":"t","identifier":"i"}"#.to_owned()),
        1 => Just("{}".to_owned()),
        1 => "[-+0-9T:., zZ]{0,30}".prop_map(|text| format!("\"{text}\"")),
    ];
    proptest::collection::vec((names, value), 0..8).prop_map(|members| {
        let members: Vec<String> =
            members.iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
        format!("{{{}}}", members.join(","))
    })
}

proptest! {
    #[test]
    fn a_snapshot_is_read_back_as_it_was_written(snapshot in snapshot()) {
        let text = snapshot.to_json();
        let back = EntitySnapshot::parse(text.as_str()).unwrap();
        prop_assert_eq!(&back, &snapshot);
        let again = back.to_json();
        prop_assert_eq!(again.as_str(), text.as_str());
    }

    #[test]
    fn a_row_has_the_identifier_and_every_property_that_no_place_takes(snapshot in snapshot()) {
        let entity_type = EntityType::new("notes", "note", "noteId").unwrap();
        let row = snapshot.project(&entity_type);
        let ids = ["id", "noteId"].map(|name| row.get_text(name).unwrap());
        prop_assert_eq!(ids, ["note-1", "note-1"]);
        let taken = ["id", "noteId", "title", "subtitle", "keywords", "url", "version", "properties"];
        for (name, value) in snapshot.properties().members() {
            if !taken.contains(&name.as_str()) {
                prop_assert_eq!(row.get(&name), Some(value));
            }
        }
        prop_assert!(Object::parse(row.as_str()).is_ok());
    }

    #[test]
    fn no_text_makes_reading_a_snapshot_panic(
        nearly in nearly_a_snapshot(),
        broken in ".{0,60}",
        cut in any::<prop::sample::Index>(),
    ) {
        let mut end = cut.index(nearly.len() + 1);
        while !nearly.is_char_boundary(end) {
            end -= 1;
        }
        for text in [nearly.as_str(), &nearly[..end], broken.as_str()] {
            if let Ok(snapshot) = EntitySnapshot::parse(text) {
                let written = snapshot.to_json();
                prop_assert_eq!(EntitySnapshot::parse(written.as_str()).unwrap(), snapshot);
            }
        }
    }

    #[test]
    fn equality_is_that_of_values(a in snapshot(), b in snapshot()) {
        let (x, y) = (a.to_json(), b.to_json());
        let (mut left, mut right) = (Tape::new(), Tape::new());
        prop_assert_eq!(a == b, x.read(&mut left).equals(y.read(&mut right)));
        let reversed: Object = a.properties().members().into_iter().rev().collect();
        prop_assert_eq!(a.properties(), &reversed);
    }

    #[test]
    fn moments_are_jiffs_wherever_jiff_has_them(micros in -377_705_023_201_000_000i64..=253_402_207_200_000_000) {
        let ours = Moment::from_unix_micros(micros).unwrap().to_string();
        let theirs = jiff::Timestamp::from_microsecond(micros).unwrap();
        prop_assume!(!ours.starts_with('-'));
        prop_assert_eq!(ours.parse::<jiff::Timestamp>().unwrap(), theirs);
        prop_assert_eq!(Moment::parse(&theirs.to_string()).unwrap().unix_micros(), micros);
    }

    #[test]
    fn a_calendar_day_is_one_exactly_when_jiff_has_it(year in 0i16..=9999, month in 0i8..=13, day in 0i8..=32) {
        let ours = Moment::parse(&format!("{year:04}-{month:02}-{day:02}"));
        let theirs = jiff::civil::Date::new(year, month, day);
        prop_assert_eq!(ours.is_ok(), theirs.is_ok());
        if let (Ok(ours), Ok(theirs)) = (ours, theirs) {
            let theirs = jiff::tz::Offset::UTC.to_timestamp(theirs.at(0, 0, 0, 0)).unwrap();
            prop_assert_eq!(ours.unix_micros(), theirs.as_microsecond());
        }
    }

    #[test]
    fn a_moment_is_written_with_its_zone_and_read_back_as_it_was_written(moment in moment()) {
        let text = moment.to_string();
        prop_assert!(text.ends_with('Z'), "a bare time would be read as a local one: {text}");
        prop_assert_eq!(Moment::parse(&text).unwrap(), moment);
    }
}
