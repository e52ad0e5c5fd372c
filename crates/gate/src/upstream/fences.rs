//! Fenced code blocks in Markdown.

/// The text of each block, in order; blank ones are left out. A block without its end reaches to the
/// end of the text.
pub(super) fn fenced_blocks(text: &str) -> Vec<String> {
    let mut blocks = Vec::new();
    let mut open: Option<(char, usize, String)> = None;
    for line in text.split_inclusive('\n') {
        open = match (open, fence(line)) {
            (None, Some(fence)) if !(fence.mark == '`' && fence.after.contains('`')) => {
                Some((fence.mark, fence.length, String::new()))
            }
            (None, _) => None,
            (Some((mark, length, code)), Some(fence))
                if fence.mark == mark && fence.length >= length && fence.after.trim().is_empty() =>
            {
                blocks.push(code);
                None
            }
            (Some((mark, length, mut code)), _) => {
                code.push_str(line);
                Some((mark, length, code))
            }
        };
    }
    blocks.extend(open.map(|(_, _, code)| code));
    blocks.retain(|code| !code.trim().is_empty());
    blocks
}

struct Fence<'a> {
    mark: char,
    length: usize,
    after: &'a str,
}

fn fence(line: &str) -> Option<Fence<'_>> {
    let text = line.trim_start_matches(' ');
    let mark = text.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let after = text.trim_start_matches(mark);
    let length = text.len() - after.len();
    (line.len() - text.len() <= 3 && length >= 3).then_some(Fence { mark, length, after })
}

#[cfg(test)]
#[path = "fences_tests.rs"]
mod tests;
