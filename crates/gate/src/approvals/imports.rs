//! Which modules a piece of Python imports, as far as reading it can tell. What it does not show (a name
//! that is put together, `exec`, a shell) is for rules on the text, and for the sandbox.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tree_sitter::{Node, ParseOptions, ParseState, Parser, Tree};
use unicode_normalization::UnicodeNormalization;

/// Stands for a module whose name is only known when the code runs.
pub(super) const UNKNOWN: &str = "*";
/// Real programs have a few dozen. The rest of a policy goes by how many there can be.
const MOST: usize = 1000;
/// Real programs take milliseconds; some texts are made to take longer.
const LONGEST: Duration = Duration::from_secs(5);

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Unreadable {
    #[error("its imports cannot be read in {} seconds", LONGEST.as_secs())]
    TooSlow,
    #[error("nobody waits for it any more")]
    Left,
    #[error("it imports more than {MOST} modules")]
    TooMany,
    #[error("the reader of Python cannot be started")]
    NoReader,
}

/// Names of top-level modules, in order, each once. Of a language that is not read here nothing is known.
/// Ends soon once `left` is true.
pub(super) fn imports(language: &str, code: &str, left: &AtomicBool) -> Result<Vec<String>, Unreadable> {
    if !language.eq_ignore_ascii_case("python") {
        return Ok(vec![UNKNOWN.to_owned()]);
    }
    // As Python itself reads it: a lone carriage return ends a line, and a comment with it.
    let code = code.replace("\r\n", "\n").replace('\r', "\n");
    let tree = parse(&code, left)?;
    let mut found = Found { code: &code, names: BTreeSet::new(), read: BTreeSet::new() };
    found.walk(&tree)?;
    if tree.root_node().has_error() {
        found.read_lines()?;
    }
    Ok(found.names.into_iter().collect())
}

fn parse(code: &str, left: &AtomicBool) -> Result<Tree, Unreadable> {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_python::LANGUAGE.into()).map_err(|_| Unreadable::NoReader)?;
    let began = Instant::now();
    let has_left = || left.load(Ordering::Relaxed);
    if has_left() {
        return Err(Unreadable::Left);
    }
    let mut in_time = |_: &ParseState| {
        if began.elapsed() < LONGEST && !has_left() {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    };
    let bytes = code.as_bytes();
    let options = ParseOptions::new().progress_callback(&mut in_time);
    let tree =
        parser.parse_with_options(&mut |at, _| bytes.get(at..).unwrap_or_default(), None, Some(options));
    tree.ok_or(if has_left() { Unreadable::Left } else { Unreadable::TooSlow })
}

struct Found<'a> {
    code: &'a str,
    names: BTreeSet<String>,
    /// Where functions that import are named in a way that hides nothing.
    read: BTreeSet<usize>,
}

impl<'a> Found<'a> {
    /// Every node, without recursion: hostile code nests as deep as it likes.
    fn walk(&mut self, tree: &Tree) -> Result<(), Unreadable> {
        let mut cursor = tree.walk();
        loop {
            self.look_at(cursor.node())?;
            if cursor.goto_first_child() {
                continue;
            }
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    return Ok(());
                }
            }
        }
    }

    fn look_at(&mut self, node: Node<'_>) -> Result<(), Unreadable> {
        match node.kind() {
            "import_statement" => {
                let mut cursor = node.walk();
                for name in node.children_by_field_name("name", &mut cursor) {
                    let name = name.child_by_field_name("name").unwrap_or(name);
                    self.add(self.text(name))?;
                }
                Ok(())
            }
            "import_from_statement" => match node.child_by_field_name("module_name") {
                Some(module) if module.kind() == "dotted_name" => {
                    self.read_names(node);
                    self.add(self.text(module))
                }
                // Relative to a package, which code in a cell is in none of.
                _ => Ok(()),
            },
            "future_import_statement" => self.add("__future__"),
            "call" => self.call(node),
            // Under another name it can do everything.
            "identifier" if imports_by_name(self.text(node)) && !self.read.contains(&node.start_byte()) => {
                self.add(UNKNOWN)
            }
            "string_content" if mentions(self.text(node)) => self.add(UNKNOWN),
            _ => Ok(()),
        }
    }

    /// What comes in by its own name is seen where it is used.
    fn read_names(&mut self, node: Node<'_>) {
        let mut cursor = node.walk();
        for name in node.children_by_field_name("name", &mut cursor) {
            if name.kind() == "dotted_name" {
                self.read.insert(name.start_byte());
            }
        }
    }

    /// `__import__("x")` and `importlib.import_module("x")`, under whatever name the module goes.
    fn call(&mut self, node: Node<'_>) -> Result<(), Unreadable> {
        let Some(function) = node.child_by_field_name("function") else { return Ok(()) };
        let name = function.child_by_field_name("attribute").unwrap_or(function);
        if !imports_by_name(self.text(name)) {
            return Ok(());
        }
        self.read.insert(name.start_byte());
        let argument = node.child_by_field_name("arguments").and_then(|all| all.named_child(0));
        let argument = argument.and_then(|first| match first.kind() {
            "keyword_argument"
                if first.child_by_field_name("name").map(|name| self.text(name)) == Some("name") =>
            {
                first.child_by_field_name("value")
            }
            _ => Some(first),
        });
        match argument.and_then(|argument| self.literal(argument)) {
            // One that begins with a point is found from another package.
            Some(module) if !module.is_empty() && !module.starts_with('.') => self.add(&module),
            _ => self.add(UNKNOWN),
        }
    }

    /// The text of a literal without escapes; strings that stand side by side are one.
    fn literal(&self, node: Node<'_>) -> Option<String> {
        let mut cursor = node.walk();
        match node.kind() {
            "concatenated_string" => {
                node.named_children(&mut cursor).map(|part| self.literal(part)).collect()
            }
            "string" => node
                .named_children(&mut cursor)
                .map(|part| match part.kind() {
                    "string_start" | "string_end" => Some(""),
                    "string_content" if part.named_child_count() == 0 => Some(self.text(part)),
                    _ => None,
                })
                .collect(),
            _ => None,
        }
    }

    /// For text that is not all Python (magics of IPython, mistakes): whatever looks like an import, as
    /// the tree of such a text may have lost it.
    fn read_lines(&mut self) -> Result<(), Unreadable> {
        let joined = self.code.replace("\\\n", " ");
        if mentions(&joined) || joined.lines().any(is_escape) {
            self.add(UNKNOWN)?;
        }
        for statement in joined.split(['\n', ';', ':']) {
            let words: Vec<&str> = statement
                .split(|c: char| c.is_whitespace() || "(),".contains(c))
                .filter(|word| !word.is_empty())
                .collect();
            let Some(at) = words.iter().position(|word| *word == "import") else { continue };
            if let Some([.., "from", module]) = words.get(..at) {
                self.add(module)?;
                continue;
            }
            let mut rest = words[at + 1..].iter();
            while let Some(word) = rest.next() {
                if *word == "as" {
                    rest.next();
                } else {
                    self.add(word)?;
                }
            }
        }
        Ok(())
    }

    fn text(&self, node: Node<'_>) -> &'a str {
        self.code.get(node.byte_range()).unwrap_or_default()
    }

    fn add(&mut self, module: &str) -> Result<(), Unreadable> {
        let top = module.split('.').next().unwrap_or_default().trim();
        if !top.is_empty() {
            self.names.insert(plain(top));
        }
        if self.names.len() > MOST { Err(Unreadable::TooMany) } else { Ok(()) }
    }
}

fn imports_by_name(name: &str) -> bool {
    matches!(plain(name).as_str(), "__import__" | "import_module")
}

fn mentions(text: &str) -> bool {
    let text = plain(text);
    text.contains("__import__") || text.contains("import_module")
}

/// A line that IPython makes into something else: a magic, a command of the shell, a call.
fn is_escape(line: &str) -> bool {
    let is_magic = |text: &str| text.trim_start().starts_with(['!', '%']);
    is_magic(line) || line.trim_start().starts_with([',', '/', ';']) || line.split('=').skip(1).any(is_magic)
}

/// As Python compares names: `ｏｓ` is `os`.
fn plain(name: &str) -> String {
    name.nfkc().collect()
}

#[cfg(test)]
#[path = "imports_tests.rs"]
mod tests;
