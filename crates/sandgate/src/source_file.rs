//! What the name of a file with code says about the code in it.

use std::path::Path;

use sandgate_engine::runtime::languages::Language;

/// By the end of its name; None: it says nothing.
pub(crate) fn language(path: &Path) -> Option<Language> {
    Language::of_file(path.extension()?.to_str()?)
}

/// A file of Java declares classes; a program among them is meant to be run, as `java File.java` does.
pub(crate) fn java_program(code: String) -> String {
    let Some(main) = code.find("static void main(") else { return code };
    // The class that was begun last before it.
    let word = |text: &str| -> String {
        text.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_' || *c == '$').collect()
    };
    let class = ["class ", "record ", "enum ", "interface "]
        .iter()
        .filter_map(|kind| code[..main].find(kind).map(|at| (at, word(&code[at + kind.len()..]))))
        .min_by_key(|(at, _)| *at);
    let Some((_, class)) = class.filter(|(_, name)| !name.is_empty()) else { return code };
    // There are no packages at JShell's prompt.
    let body: Vec<&str> = code.lines().filter(|line| !line.trim_start().starts_with("package ")).collect();
    format!("{}\n{class}.main(new String[0]);\n", body.join("\n"))
}

#[cfg(test)]
#[path = "source_file_tests.rs"]
mod tests;
