//! Words of a network that are nearly the right ones. Taken for names of hosts, they would be policies that nobody
//! meant.

/// What each is written as, and what people write for it.
const WORDS: [(&str, &[&str]); 3] = [
    ("disabled", &["disabled", "none", "nothing", "[]"]),
    ("open", &["open", "all", "any", "everything"]),
    ("registries", &["registries"]),
];

/// The word of a policy that somebody meant by this; None: it is a host or a range, if anything.
#[must_use]
pub fn word_meant(text: &str) -> Option<&'static str> {
    // A port makes no host of it.
    let bare = text.trim().split(':').next().unwrap_or_default().to_ascii_lowercase();
    WORDS.iter().find(|(_, written)| written.contains(&bare.as_str())).map(|(right, _)| *right)
}
