//! The shape of the database, as a list of steps that is only ever added to.

use rusqlite::{Connection, TransactionBehavior};

use crate::{Result, StoreError};

/// Step `n` leads from version `n` to `n + 1`. A step that was released is never changed.
pub(crate) const ALL: &[&str] = &[
    include_str!("migrations/001_first.sql"),
    include_str!("migrations/002_keys.sql"),
    include_str!("migrations/003_ledger.sql"),
    include_str!("migrations/004_leases.sql"),
    include_str!("migrations/005_passed_places.sql"),
];

pub(crate) fn migrate(connection: &mut Connection, steps: &[&str]) -> Result<()> {
    // Taken before the version is read: two programs that start at once must not both take a step.
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let found: u32 = transaction.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let known = u32::try_from(steps.len()).unwrap_or(u32::MAX);
    if found > known {
        return Err(StoreError::Newer { found, known });
    }
    for step in steps.iter().skip(found as usize) {
        transaction.execute_batch(step)?;
    }
    transaction.pragma_update(None, "user_version", known)?;
    transaction.commit()?;
    Ok(())
}

#[cfg(test)]
#[path = "migrations_tests.rs"]
mod tests;
