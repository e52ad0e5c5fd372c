//! One page of a list: the same rules for everything that can be listed.

use rusqlite::{Connection, Row, ToSql};

use crate::{Result, StoreError};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    pub limit: usize,
    /// Newest first.
    pub descending: bool,
    /// Only what comes after the entry of this id, in the order of the list.
    pub after: Option<String>,
    /// Only what comes before the entry of this id. Alone, it asks for the page right before it.
    pub before: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed<T> {
    pub data: Vec<T>,
    /// There is more in the direction of the asking: before the page if only `before` was given,
    /// after it otherwise.
    pub has_more: bool,
}

/// Names and values of the parameters in a list's filter.
pub(crate) type Named<'a> = &'a [(&'a str, &'a dyn ToSql)];

/// The parts of a query that differ from list to list. Only words of this crate go in here.
pub(crate) struct List<'a> {
    pub(crate) columns: &'static str,
    pub(crate) from: &'static str,
    pub(crate) filter: &'a str,
    pub(crate) id: &'static str,
    /// No two rows have the same.
    pub(crate) order: &'static str,
}

impl List<'_> {
    pub(crate) fn page<T>(
        &self,
        connection: &Connection,
        named: Named<'_>,
        page: &Page,
        read: impl Fn(&Row<'_>) -> Result<T>,
    ) -> Result<Listed<T>> {
        let place = |id: &String| self.place(connection, named, id);
        let after = page.after.as_ref().map(place).transpose()?;
        let before = page.before.as_ref().map(place).transpose()?;
        let within = Within { after, before, bytes: usize::MAX };
        self.page_within(connection, named, page, &within, read)
    }

    /// The same between places that are known.
    pub(crate) fn page_within<T>(
        &self,
        connection: &Connection,
        named: Named<'_>,
        page: &Page,
        within: &Within,
        read: impl Fn(&Row<'_>) -> Result<T>,
    ) -> Result<Listed<T>> {
        let Within { after, before, bytes } = *within;
        // The page right before an entry is found by walking back from it.
        let backwards = before.is_some() && after.is_none();
        let (higher, lower) = if page.descending { (before, after) } else { (after, before) };

        let Self { columns, from, filter, order, .. } = self;
        let above = higher.map_or(String::new(), |_| format!(" AND {order} > :higher"));
        let below = lower.map_or(String::new(), |_| format!(" AND {order} < :lower"));
        let direction = if page.descending != backwards { "DESC" } else { "ASC" };
        let text = format!(
            "SELECT {columns} FROM {from} WHERE {filter}{above}{below}
             ORDER BY {order} {direction} LIMIT :limit"
        );
        // One more than asked for tells whether there is more.
        let limit = i64::try_from(page.limit).unwrap_or(i64::MAX).saturating_add(1);
        let mut named = named.to_vec();
        named.push((":limit", &limit));
        if let Some(place) = &higher {
            named.push((":higher", place));
        }
        if let Some(place) = &lower {
            named.push((":lower", place));
        }

        let mut statement = connection.prepare_cached(&text)?;
        let mut rows = statement.query(named.as_slice())?;
        let mut data = Vec::new();
        let (mut has_more, mut sum) = (false, 0_usize);
        while let Some(row) = rows.next()? {
            sum = sum.saturating_add(size(row)?);
            if data.len() == page.limit || (sum > bytes && !data.is_empty()) {
                has_more = true;
                break;
            }
            data.push(read(row)?);
        }
        if backwards {
            data.reverse();
        }
        Ok(Listed { data, has_more })
    }

    fn place(&self, connection: &Connection, named: Named<'_>, id: &str) -> Result<i64> {
        let Self { from, filter, order, id: column, .. } = self;
        let text = format!("SELECT min({order}) FROM {from} WHERE {filter} AND {column} = :cursor");
        let mut named = named.to_vec();
        named.push((":cursor", &id));
        let place: Option<i64> = first(connection, &text, named.as_slice(), |row| Ok(row.get(0)?))?;
        place.ok_or(StoreError::NotFound)
    }
}

/// What a page may hold.
pub(crate) struct Within {
    /// Places in the order of the list.
    pub(crate) after: Option<i64>,
    pub(crate) before: Option<i64>,
    /// A page that would be larger is cut short, though never to nothing.
    pub(crate) bytes: usize,
}

/// Of the texts of a row.
pub(crate) fn size(row: &Row<'_>) -> Result<usize> {
    let columns = row.as_ref().column_count();
    let mut sum = 0;
    for column in 0..columns {
        sum += row.get_ref(column)?.as_bytes_or_null().ok().flatten().map_or(0, <[u8]>::len);
    }
    Ok(sum)
}

/// All rows of a cached query.
pub(crate) fn all<T>(
    connection: &Connection,
    text: &str,
    params: impl rusqlite::Params,
    read: impl Fn(&Row<'_>) -> Result<T>,
) -> Result<Vec<T>> {
    let mut statement = connection.prepare_cached(text)?;
    let mut rows = statement.query(params)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(read(row)?);
    }
    Ok(found)
}

/// The first row of a cached query; none is [`StoreError::NotFound`].
pub(crate) fn first<T>(
    connection: &Connection,
    text: &str,
    params: impl rusqlite::Params,
    read: impl Fn(&Row<'_>) -> Result<T>,
) -> Result<T> {
    let mut statement = connection.prepare_cached(text)?;
    let mut rows = statement.query(params)?;
    read(rows.next()?.ok_or(StoreError::NotFound)?)
}

/// SQLite counts in signed numbers; what is beyond them stands for "never" or "all".
pub(crate) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

#[cfg(test)]
#[path = "pages_tests.rs"]
mod tests;
