//! From nothing, from an earlier version, and not from a later one.

use rusqlite::Connection;

use super::{ALL, migrate};
use crate::StoreError;

fn version(connection: &Connection) -> u32 {
    connection.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap()
}

#[test]
fn an_empty_file_becomes_a_database() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let mut connection = Connection::open(file.path()).unwrap();
    migrate(&mut connection, ALL).unwrap();
    assert_eq!(version(&connection) as usize, ALL.len());
    connection.execute_batch("SELECT * FROM responses, files, containers").unwrap();
}

#[test]
fn only_the_missing_steps_are_taken() {
    let mut connection = Connection::open_in_memory().unwrap();
    migrate(&mut connection, &["CREATE TABLE a (x)"]).unwrap();
    connection.execute_batch("INSERT INTO a VALUES (1)").unwrap();
    let steps = ["CREATE TABLE a (x)", "ALTER TABLE a ADD COLUMN y DEFAULT 2"];
    migrate(&mut connection, &steps).unwrap();
    migrate(&mut connection, &steps).unwrap();
    let row: (i64, i64) =
        connection.query_row("SELECT x, y FROM a", [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    assert_eq!((row, version(&connection)), ((1, 2), 2));
}

#[test]
fn responses_that_were_passed_on_before_there_were_several_upstreams_stay() {
    let mut connection = Connection::open_in_memory().unwrap();
    migrate(&mut connection, &ALL[..4]).unwrap();
    connection.execute_batch("INSERT INTO passed_responses VALUES ('resp_1', 'ann', 1)").unwrap();
    migrate(&mut connection, ALL).unwrap();
    let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
    let row: (String, Option<String>) =
        connection.query_row("SELECT owner, upstream FROM passed_responses", [], read).unwrap();
    assert_eq!(row, ("ann".to_owned(), None));
}

#[test]
fn a_step_that_fails_takes_all_back() {
    let mut connection = Connection::open_in_memory().unwrap();
    assert!(migrate(&mut connection, &["CREATE TABLE a (x)", "no SQL"]).is_err());
    assert_eq!(version(&connection), 0);
    assert!(connection.execute_batch("SELECT * FROM a").is_err());
}

#[test]
fn a_later_version_is_refused() {
    let mut connection = Connection::open_in_memory().unwrap();
    connection.pragma_update(None, "user_version", 9).unwrap();
    let refused = migrate(&mut connection, &["CREATE TABLE a (x)"]).unwrap_err();
    assert!(matches!(refused, StoreError::Newer { found: 9, known: 1 }));
}
