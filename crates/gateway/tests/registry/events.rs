//! Events.

use std::time::Duration;

use callgate_gateway::registry::{Change, EVENTS_WAITING_MAX, Event, Subscription, kit};
use callgate_wire::EntityType;

use super::{idle, registry};

fn all(events: &Subscription) -> Vec<Event> {
    std::iter::from_fn(|| events.next_event()).collect()
}

fn registered(key: &str) -> Change {
    Change::IntentRegistered { key: key.to_owned() }
}

fn unregistered(key: &str) -> Change {
    Change::IntentUnregistered { key: key.to_owned() }
}

#[test]
fn each_change_is_an_event_with_its_time_and_its_stored_key() {
    let registry = registry();
    let events = registry.subscribe();
    registry.register(kit::echo().unwrap().with_key("custom")).unwrap();
    registry.unregister("custom");
    let told = all(&events);
    assert_eq!(
        told.iter().map(|event| event.change.clone()).collect::<Vec<_>>(),
        [registered("custom"), unregistered("custom")]
    );
    assert!(told[0].at < told[1].at, "the clock of the test counts up");
}

#[test]
fn types_of_entities_are_told_on_the_same_stream() {
    let registry = registry();
    let events = registry.subscribe();
    registry.register_entity_type(EntityType::new("notes", "note", "id").unwrap()).unwrap();
    registry.register(idle("a", "b")).unwrap();
    registry.unregister_entity_type("notes_note");
    let key = "notes_note".to_owned();
    let told: Vec<_> = all(&events).into_iter().map(|event| event.change).collect();
    assert_eq!(
        told,
        [
            Change::EntityTypeRegistered { key: key.clone() },
            registered("a_b"),
            Change::EntityTypeUnregistered { key }
        ]
    );
}

#[test]
fn a_change_is_visible_when_its_event_arrives() {
    let registry = registry();
    let events = registry.subscribe();
    let watched = registry.clone();
    let watcher = std::thread::spawn(move || {
        let mut found = Vec::new();
        while let Some(event) = events.wait(Duration::from_mins(1)) {
            found.push(watched.get(event.change.key()).is_some());
            if found.len() == 2 {
                break;
            }
            watched.unregister("a_b");
        }
        found
    });
    registry.register(idle("a", "b")).unwrap();
    assert_eq!(watcher.join().unwrap(), [true, false]);
}

#[test]
fn events_come_in_order_to_every_listener_and_a_slow_one_holds_nobody_up() {
    let registry = registry();
    let (slow, quick) = (registry.subscribe(), registry.subscribe());
    for name in ["one", "two", "three"] {
        registry.register(idle("a", name)).unwrap();
        // It is there before `register` has returned.
        assert_eq!(quick.next_event().unwrap().change, registered(&format!("a_{name}")));
    }
    let keys: Vec<_> = all(&slow).iter().map(|event| event.change.key().to_owned()).collect();
    assert_eq!(keys, ["a_one", "a_two", "a_three"]);
}

#[test]
fn a_late_listener_hears_nothing_of_before_and_can_take_list_and_events_in_one() {
    let registry = registry();
    registry.register(idle("a", "before")).unwrap();
    let (entries, events) = registry.entries_and_subscribe();
    registry.register(idle("a", "after")).unwrap();
    assert_eq!(entries.iter().map(|entry| entry.key().to_owned()).collect::<Vec<_>>(), ["a_before"]);
    assert_eq!(
        all(&events).into_iter().map(|event| event.change).collect::<Vec<_>>(),
        [registered("a_after")]
    );
}

#[test]
fn no_change_falls_between_a_list_and_its_events() {
    let registry = registry();
    let writer = registry.clone();
    let writing = std::thread::spawn(move || {
        for number in 0..200 {
            writer.register(idle("a", &format!("n{number}"))).unwrap();
        }
    });
    for _ in 0..50 {
        let (entries, events) = registry.entries_and_subscribe();
        let mut known: Vec<_> = entries.iter().map(|entry| entry.key().to_owned()).collect();
        std::thread::yield_now();
        known.extend(all(&events).into_iter().map(|event| event.change.key().to_owned()));
        let wanted: Vec<_> = (0..known.len()).map(|number| format!("a_n{number}")).collect();
        assert_eq!(known, wanted);
    }
    writing.join().unwrap();
}

#[test]
fn a_cancelled_listener_hears_nothing_more() {
    let registry = registry();
    let events = registry.subscribe();
    events.canceller().cancel();
    registry.register(idle("a", "b")).unwrap();
    assert_eq!(events.next_event(), None);
    assert_eq!(events.wait_on(), None, "and waits for nothing");
    drop(registry.subscribe());
    registry.register(idle("a", "c")).unwrap();
}

#[test]
fn a_listener_may_change_the_registry_and_its_event_comes_after() {
    let registry = registry();
    let events = registry.subscribe();
    registry.register(idle("a", "b")).unwrap();
    registry.register(idle("a", "c")).unwrap();
    let mut told = Vec::new();
    while let Some(event) = events.next_event() {
        if told.is_empty() {
            registry.unregister("a_b");
        }
        told.push(event.change);
    }
    assert_eq!(told, [registered("a_b"), registered("a_c"), unregistered("a_b")]);
}

#[test]
fn events_are_numbered_so_that_a_listener_sees_that_it_fell_behind() {
    let registry = registry();
    let events = registry.subscribe();
    registry.register(idle("a", "b")).unwrap();
    for _ in 0..EVENTS_WAITING_MAX {
        registry.unregister("a_b");
        registry.register(idle("a", "b")).unwrap();
    }
    let numbers: Vec<_> = all(&events).iter().map(|event| event.sequence).collect();
    assert_eq!(numbers, (1..=EVENTS_WAITING_MAX as u64).collect::<Vec<_>>());
    assert!(events.missed() && !events.missed(), "it is told so, once");
    registry.unregister("a_b");
    assert_eq!(events.next_event().unwrap().sequence, 2 * EVENTS_WAITING_MAX as u64 + 2, "there is a gap");
}
