//! Code that ends itself by `sys.exit`, as scripts do: for an interpreter an exception like any other, for who runs a
//! script an end with a code.

use sandgate_core::CodeError;

/// How it left, and what it said with that.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Left<'a> {
    pub(crate) code: u8,
    pub(crate) said: Option<&'a str>,
}

/// None: the code has raised something else. As Python has it: a number is the code, and nothing else is; a text is
/// said, and the code is 1.
pub(crate) fn left(error: &CodeError) -> Option<Left<'_>> {
    if error.name != "SystemExit" {
        return None;
    }
    Some(match error.value.as_str() {
        "" | "None" => Left { code: 0, said: None },
        value => match value.parse::<i64>() {
            // Of a larger number, shells see the last byte.
            Ok(code) => Left { code: code.to_le_bytes()[0], said: None },
            Err(_) => Left { code: 1, said: Some(value) },
        },
    })
}

#[cfg(test)]
#[path = "leaving_tests.rs"]
mod tests;
