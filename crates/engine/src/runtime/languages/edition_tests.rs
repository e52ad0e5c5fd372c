//! Names of editions.

use super::*;

fn parsed(name: &str) -> String {
    Edition::parse(name).map_or_else(|error| error.to_string(), |edition| edition.to_string())
}

#[test]
fn a_version_means_the_release_line_that_has_it() {
    for (name, edition) in [
        ("node", "node"),
        ("js@20", "node@20"),
        ("node@v22", "node@22"),
        ("go@1.24", "go@1.24"),
        ("go@go1.25", "go@1.25"),
        ("golang@1", "go@1.27"),
        ("java@17", "java@17"),
        ("r", "r"),
    ] {
        assert_eq!(parsed(name), edition, "{name}");
    }
    let exact = GO[0].version();
    assert_eq!(parsed(&format!("go@{exact}")), "go@1.27", "{exact}");
}

#[test]
fn what_cannot_be_added_is_told_with_what_can() {
    assert_eq!(parsed("node@18"), "Node.js 18 cannot be added; what can: node, node@24, node@22, node@20");
    for version in ["20.17", "", "20.", "../20", "20 22", "2"] {
        assert!(parsed(&format!("node@{version}")).contains("cannot be added"), "{version}");
    }
    assert!(parsed("r@4").ends_with("what can: r"));
    for name in ["", "@", "@20", "python@3.12", "cobol@1", "../node@20"] {
        assert_eq!(parsed(name), format!("there is no runtime '{name}'"));
    }
}

#[test]
fn every_lock_pins_the_line_it_is_named_for() {
    for tool in Tool::ALL {
        for line in lines(tool) {
            assert!(version_of(line.version(), line.name), "{tool}@{}: {}", line.name, line.version());
            let hashes = line.lock.map_or(2, |lock| lock.matches("--hash=sha256:").count());
            assert_eq!(hashes, 2, "one for each kind of processor: {tool}@{}", line.name);
        }
    }
}
