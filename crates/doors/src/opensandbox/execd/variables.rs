//! Variables that clients set for every command to come (`commands.set_env`): lines of a file inside, whose place
//! commands know by `EXECD_ENVS`.

use sandgate_core::SandboxPath;
use tokio::io::AsyncReadExt;

use super::guest::Guest;

const NAME: &str = "EXECD_ENVS";
const FILE: &str = "/home/user/.opensandbox/envs";
/// More than that is nobody's variables.
const MOST: u64 = 1 << 20;

/// The variables that a command starts with beside the sandbox's own; `own` are the command's, and win.
pub(super) async fn with_variables(
    guest: &Guest,
    own: impl IntoIterator<Item = (String, String)>,
) -> Vec<(String, String)> {
    let set = guest.target.container.spec().env.iter().find(|(name, _)| name == NAME);
    let file = set.map_or(FILE, |(_, file)| file.as_str());
    let mut all = vec![(NAME.to_owned(), file.to_owned())];
    all.extend(parse(&read(guest, file).await.unwrap_or_default()));
    all.extend(own);
    all
}

/// None: nothing was ever set, or nobody can read it.
async fn read(guest: &Guest, file: &str) -> Option<String> {
    let path = SandboxPath::parse(file).ok()?;
    let open = guest.sandbox.inside().await.ok()?.open(&path, None).await.ok()?;
    let mut text = Vec::new();
    open.reader.take(MOST).read_to_end(&mut text).await.ok()?;
    Some(String::from_utf8_lossy(&text).into_owned())
}

/// `NAME=value`, `NAME='value'` as it stands, or `NAME="value"` with escapes.
fn parse(text: &str) -> Vec<(String, String)> {
    let mut variables = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let line = rest.trim_start();
        let (value, after) = match line.split_once('=') {
            Some((name, value)) if is_name(name) => {
                let (value, after) = value_of(value);
                (Some((name.to_owned(), value)), after)
            }
            _ => (None, line.split_once('\n').map_or("", |(_, after)| after)),
        };
        variables.extend(value);
        rest = after;
    }
    variables
}

fn is_name(name: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_alphabetic() || c == '_';
    name.starts_with(is_letter) && name.chars().all(|c| is_letter(c) || c.is_ascii_digit())
}

/// The value, and what comes after its line.
fn value_of(text: &str) -> (String, &str) {
    let after_line = |rest: &'_ str| rest.find('\n').map_or(rest.len(), |end| end + 1);
    if let Some((value, rest)) = text.strip_prefix('\'').and_then(|text| text.split_once('\'')) {
        return (value.to_owned(), &rest[after_line(rest)..]);
    }
    if let Some(quoted) = text.strip_prefix('"')
        && let Some((value, rest)) = unescaped(quoted)
    {
        return (value, &rest[after_line(rest)..]);
    }
    let end = after_line(text);
    (text[..end].trim_end().to_owned(), &text[end..])
}

/// Up to the closing quote. None: there is none.
fn unescaped(text: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut letters = text.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => return Some((value, &text[at + 1..])),
            '\\' => match letters.next()?.1 {
                'n' => value.push('\n'),
                'r' => value.push('\r'),
                't' => value.push('\t'),
                other => value.push(other),
            },
            other => value.push(other),
        }
    }
    None
}

#[cfg(test)]
#[path = "variables_tests.rs"]
mod tests;
