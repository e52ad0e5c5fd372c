//! Reading what pip says: how far it is, and what of it a person needs when it fails.

/// What a line of pip's output tells about progress.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line<'a> {
    /// A package is looked at: its name.
    Collecting(&'a str),
    /// A file is fetched: its name and size.
    Fetching(String),
    /// A locked package is not for this machine.
    Ignoring,
    /// All files are here; they are unpacked now.
    Installing,
    Other,
}

pub(super) fn read(line: &str) -> Line<'_> {
    let line = line.trim();
    let first_word = |rest: &'_ str| rest.split([' ', ';', '=', '[']).next().map_or(0, str::len);
    if let Some(rest) = line.strip_prefix("Collecting ") {
        Line::Collecting(&rest[..first_word(rest)])
    } else if let Some(rest) = line.strip_prefix("Downloading ") {
        let (file, size) = rest.rsplit_once(" (").unwrap_or((rest, ""));
        let file = file.rsplit('/').next().unwrap_or(file);
        let mut parts = file.splitn(3, '-');
        match (parts.next(), parts.next(), size.strip_suffix(')')) {
            (Some(name), Some(version), Some(size)) => Line::Fetching(format!("{name} {version}, {size}")),
            _ => Line::Fetching(file.to_owned()),
        }
    } else if line.starts_with("Ignoring ") && line.contains(": markers ") {
        Line::Ignoring
    } else if line.starts_with("Installing collected packages") {
        Line::Installing
    } else {
        Line::Other
    }
}

/// The names that a lock file pins, in its order.
pub(super) fn names_in(lock: &str) -> Vec<&str> {
    let pins = lock.lines().filter(|line| line.starts_with(|c: char| c.is_ascii_alphanumeric()));
    pins.filter_map(|line| line.split_once("==")).map(|(name, _)| name.trim()).collect()
}

/// The lines of a failed pip that say what happened, as one text.
pub(super) fn what_happened(tail: &[String]) -> String {
    let mut errors: Vec<&str> = tail.iter().filter_map(|line| line.trim().strip_prefix("ERROR: ")).collect();
    errors.dedup();
    if errors.is_empty() {
        let plain = tail.iter().map(|line| line.trim());
        errors = plain.filter(|line| !line.is_empty() && !line.starts_with("[notice]")).collect();
    }
    let last: Vec<&str> = errors.iter().rev().take(3).rev().map(|line| line.trim_end_matches('.')).collect();
    if last.is_empty() { "it said nothing".to_owned() } else { last.join("; ") }
}

/// What to check, by what pip complained about.
pub(super) fn advice(tail: &[String]) -> &'static str {
    let says = |words: &[&str]| tail.iter().any(|line| words.iter().any(|word| line.contains(word)));
    if says(&["No space left on device", "Disk quota exceeded"]) {
        "free space on the disk of SANDGATE_HOME (about 1 GB is needed)"
    } else if says(&["DO NOT MATCH THE HASHES"]) {
        "the package index serves other files than those that were locked: check the mirror in PIP_INDEX_URL or pip.conf"
    } else if says(&["CERTIFICATE_VERIFY_FAILED", "SSLError"]) {
        "the package index's certificate was refused: check PIP_CERT and the proxy settings"
    } else if says(&["connection broken by", "Connection refused", "Temporary failure in name resolution"]) {
        "the package index could not be reached: check the network, the proxy settings, and PIP_INDEX_URL or pip.conf"
    } else if says(&["No matching distribution found"]) {
        "the package index has no fitting file for this machine and Python: check PIP_INDEX_URL and pip.conf"
    } else {
        "check the network and pip's settings (PIP_INDEX_URL, PIP_PROXY, pip.conf)"
    }
}

#[cfg(test)]
#[path = "pip_output_tests.rs"]
mod tests;
