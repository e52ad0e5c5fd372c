//! Rounds of code are counted, and the last one is announced to the model, so that it can answer in time.

/// For the model, when it will not be able to call again. `taken`: rounds before this one.
pub(crate) fn last_round_note(taken: u32, most: u32) -> Option<String> {
    (taken + 1 >= most)
        .then(|| format!("this was the last of {most} rounds of code in this response; answer now"))
}
