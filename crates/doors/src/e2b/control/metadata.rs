//! Metadata in a query: each name and value is percent-encoded, the pairs are written as a form, and that is put
//! into the query. The query is decoded by whoever reads it; the two layers inside are taken off here.

use std::collections::BTreeMap;

use super::super::error::{E2bError, E2bResult};
use crate::lent::form;

pub(super) fn read(text: &str) -> E2bResult<BTreeMap<String, String>> {
    form(text).into_iter().map(|(name, value)| Ok((decoded(&name)?, decoded(&value)?))).collect()
}

/// Plain percent-encoding: a plus sign is a plus sign.
fn decoded(text: &str) -> E2bResult<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let digits = after.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.filter(|digits| *first == b'%' && digits.bytes().all(|digit| digit.is_ascii_hexdigit()))
        {
            Some(digits) => {
                bytes.extend(u8::from_str_radix(digits, 16));
                rest = &after[2..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8(bytes).map_err(|_| E2bError::bad_request("'metadata' is not UTF-8 text"))
}

#[cfg(test)]
#[path = "metadata_tests.rs"]
mod tests;
