//! Names of languages.

use super::{Language, Tool};

#[test]
fn names_and_aliases_mean_the_same() {
    for language in Language::ALL {
        assert_eq!(Language::parse(language.name()), Some(language));
        assert_eq!(Language::parse(language.title()), Some(language), "in any case");
    }
    for (alias, language) in [
        ("js", Language::JavaScript),
        ("ts", Language::TypeScript),
        ("py", Language::Python),
        ("sh", Language::Bash),
        ("golang", Language::Go),
    ] {
        assert_eq!(Language::parse(alias), Some(language));
    }
    for unknown in ["", "cobol", "javascript ", "../go", "Jäva"] {
        assert_eq!(Language::parse(unknown), None, "{unknown:?}");
    }
}

#[test]
fn every_runtime_runs_a_language_and_is_found_by_it() {
    for tool in Tool::ALL {
        assert!(tool.languages().count() > 0);
        for language in tool.languages() {
            assert_eq!(Tool::parse(language.name()), Some(tool));
        }
        assert_eq!(Tool::parse(tool.name()), Some(tool));
    }
    assert_eq!(Tool::parse("python"), None, "nothing to add");
}
