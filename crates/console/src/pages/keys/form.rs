//! The limits of a key as fields of a form.

use maud::{Markup, html};
use sandgate_core::KeyLimits;

/// Memory is written in these.
pub(super) const MIB: u64 = 1 << 20;

/// In one line; nothing has a word, as an empty line is no limit.
pub(super) fn network(words: &[String]) -> String {
    if words.is_empty() { "disabled".to_owned() } else { words.join(", ") }
}

pub(super) fn limits(limits: &KeyLimits) -> Markup {
    let numbers = [
        ("requests_per_minute", "Requests per minute", limits.requests_per_minute.map(u64::from)),
        ("executions", "Executions at once", limits.executions.map(u64::from)),
        ("sandboxes", "Sandboxes at once", limits.sandboxes.map(u64::from)),
        ("containers", "Containers", limits.containers.map(u64::from)),
        ("memory_mib", "Memory of a container, MiB", limits.memory_bytes.map(|bytes| bytes / MIB)),
    ];
    let models = limits.models.as_ref().map(|models| models.join(", "));
    let network = limits.network.as_deref().map(network);
    html! {
        label { span { "Models" } input name="models" value=[models] placeholder="all; gpt-5*, loopback"
            spellcheck="false" autocomplete="off"; }
        label { span { "Network, most" } input name="network" value=[network]
            placeholder="no limit; disabled, *.example.org" spellcheck="false" autocomplete="off"; }
        @for (name, title, value) in numbers {
            label { span { (title) } input name=(name) type="number" min="0" value=[value] placeholder="no limit"; }
        }
        label { span { "Record code and output" } select name="log_code" {
            option value="" { "as the server is set" }
            option value="yes" selected[limits.log_code == Some(true)] { "yes" }
            option value="no" selected[limits.log_code == Some(false)] { "no" }
        } }
        label.check { input type="checkbox" name="console" value="yes" checked[limits.console]; "May use the console" }
    }
}
