//! How the statements find their rows: each by an index, or along one, and none by sorting. What a call waits for must not
//! grow with the history.

use std::path::Path;

use rusqlite::Connection;

use super::{approvals, budgets, history, intents, migrate};

/// The steps of a statement's plan.
fn plan(connection: &Connection, sql: &str) -> Vec<String> {
    let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
    for number in 1..=statement.parameter_count() {
        statement.raw_bind_parameter(number, 1).unwrap();
    }
    let mut rows = statement.raw_query();
    let mut steps = Vec::new();
    while let Some(row) = rows.next().unwrap() {
        steps.push(row.get(3).unwrap());
    }
    steps
}

#[test]
fn every_list_walks_along_an_index_and_every_lookup_finds_its_rows_by_one() {
    let connection = migrate::empty(Path::new("in memory")).unwrap();
    for sql in [intents::LISTS, approvals::LISTS, budgets::LISTS, history::LISTS].concat() {
        assert!(sql.contains("DESC LIMIT ?1"), "{sql}");
        for step in plan(&connection, sql) {
            assert!(!step.contains("TEMP B-TREE"), "{sql}: {step}");
        }
    }
    for sql in [intents::LOOKUPS, approvals::LOOKUPS, budgets::LOOKUPS].concat() {
        for step in plan(&connection, sql) {
            assert!(!step.contains("TEMP B-TREE") && !step.contains("SCAN"), "{sql}: {step}");
        }
    }
    // It would be seen.
    connection.execute_batch("DROP INDEX intents_key; DROP INDEX counters_charged").unwrap();
    let lists = intents::LOOKUPS.iter().chain(budgets::LISTS);
    let seen = lists
        .flat_map(|sql| plan(&connection, sql))
        .filter(|step| step.contains("TEMP B-TREE") || step.contains("SCAN"));
    assert!(seen.count() >= 2);
}

#[test]
fn a_statement_is_planned_once() {
    let connection = migrate::empty(Path::new("in memory")).unwrap();
    let mut again = Vec::new();
    let (lists, lookups) = (
        [intents::LISTS, approvals::LISTS, budgets::LISTS, history::LISTS].concat(),
        [intents::LOOKUPS, approvals::LOOKUPS, budgets::LOOKUPS].concat(),
    );
    for sql in [lists, lookups].concat() {
        let mut statement = connection.prepare(sql).unwrap();
        for text in ["a", "b", "c"] {
            for number in 1..=statement.parameter_count() {
                statement.raw_bind_parameter(number, text).unwrap();
            }
            let _ = statement.raw_query().next();
            statement.clear_bindings();
        }
        if statement.get_status(rusqlite::StatementStatus::RePrepare) > 0 {
            again.push(sql);
        }
    }
    assert_eq!(again, [""; 0], "their plans hang on what is bound to them");
}
