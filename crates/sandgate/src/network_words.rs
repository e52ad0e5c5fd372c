//! Words of a network that are nearly the right ones. Taken for names of hosts, they would be policies that nobody
//! meant.

use sandgate_core::network::word_meant;

/// A value of `--network`.
pub(crate) fn word(text: &str) -> Result<String, String> {
    check(text).map(|()| text.to_owned())
}

/// Whether it can be one word of a policy: the right word, or no word at all but a host or a range.
pub(crate) fn check(text: &str) -> Result<(), String> {
    match word_meant(text) {
        Some(right) if text != right => Err(format!("'{text}' is not a host here; did you mean '{right}'?")),
        _ => Ok(()),
    }
}

/// Whether it can stand where only hosts and ranges do.
pub(crate) fn check_host(text: &str) -> Result<(), String> {
    match word_meant(text) {
        Some("registries") => Err("package registries are of the embedded engine alone".to_owned()),
        Some(right) => {
            Err(format!("'{text}' is not a host here; '{right}' stands alone, in place of the list"))
        }
        None => Ok(()),
    }
}

#[cfg(test)]
#[path = "network_words_tests.rs"]
mod tests;
