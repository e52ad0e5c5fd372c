//! What each backend can do, as a table for people, made from what the code says of itself.

use std::fmt::Write as _;

use crate::daytona::Daytona;
use crate::e2b::E2b;
use crate::opensandbox::OpenSandbox;
use crate::{Capabilities, NetworkControl};

/// In Markdown, the embedded engine first; Daytona as it is with a snapshot.
#[must_use]
pub fn capability_table() -> String {
    let all = [E2b::capabilities(), OpenSandbox::capabilities(), Daytona::capabilities(false)];
    let mut table =
        String::from("| | embedded | E2B | OpenSandbox | Daytona |\n| --- | --- | --- | --- | --- |\n");
    let mut row = |name: &str, embedded: &str, cell: fn(&Capabilities) -> String| {
        let cells: Vec<String> = all.iter().map(cell).collect();
        let _ = writeln!(table, "| {name} | {embedded} | {} |", cells.join(" | "));
    };
    row("values and displays", "yes", |can| {
        if can.last_value && can.display { "yes" } else { "by the gate" }.to_owned()
    });
    row("languages", "see [The command line](command-line.md#other-languages)", |can| {
        can.languages.join(", ")
    });
    row("several contexts", "yes", |can| yes(can.contexts));
    row("variables for one run", "yes", |can| yes(can.run_env));
    row("interrupt", "yes", |can| if can.interrupt { "yes" } else { "ends the interpreter" }.to_owned());
    row("pause with memory", "yes", |can| yes(can.pause));
    row("life can be extended", "does not end", |can| yes(can.extend));
    row("memory limit", "yes", |can| decided(can.memory_limit));
    row("processor limit", "yes", |can| decided(can.cpu_limit));
    row("disk limit", "yes", |can| decided(can.disk_limit));
    row("network", "rules", |can| {
        match can.network {
            NetworkControl::Switch => "all or nothing",
            NetworkControl::Rules => "rules",
            NetworkControl::None => "the provider's",
        }
        .to_owned()
    });
    row("commands", "yes", |can| yes(can.processes));
    row("ports, watches, all files", "yes", |can| yes(can.inside));
    table
}

fn yes(is: bool) -> String {
    if is { "yes" } else { "no" }.to_owned()
}

fn decided(by_wish: bool) -> String {
    if by_wish { "yes" } else { "its template's" }.to_owned()
}

#[cfg(test)]
#[path = "table_tests.rs"]
mod tests;
