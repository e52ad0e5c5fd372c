//! Rules see what they should, and what is written wrongly is found before any code comes.

use super::*;

fn facts() -> Facts {
    expression::sample()
}

fn holds(when: &str) -> Result<bool, String> {
    rule(when).map_err(|error| error.to_string())?.holds(&facts())
}

fn rule(when: &str) -> Result<Rule, BadExpression> {
    Rule::new("r".to_owned(), when, Stance::Deny, None)
}

#[test]
fn an_expression_speaks_of_all_that_is_known() {
    for when in [
        "code.contains('os.name')",
        r#"code.matches("(?m)^import\\s")"#,
        "size(code) < 100 && code.size() > 5",
        "'os' in imports",
        "imports.exists(m, m in ['socket', 'os'])",
        "imports.all(m, m == 'os' || m.startsWith('x'))",
        "imports.filter(m, m != 'os').size() == 0",
        "!(imports.exists_one(m, m == 'sys'))",
        "language == 'python'",
        "model.startsWith('gpt')",
        "key.id == 'key_0123' && key.name == 'ci' && key.owner == 'team'",
        "container.name == 'session' && container.id.startsWith('cntr_')",
        "door in ['responses', 'chat']",
        "has(key.name) ? true : false",
        "true",
    ] {
        assert_eq!(holds(when), Ok(true), "{when}");
    }
    assert_eq!(holds("'numpy' in imports"), Ok(false));
}

#[test]
fn what_is_not_known_is_an_empty_text() {
    let mut facts = facts();
    facts.model = None;
    facts.key.id = None;
    facts.key.name = None;
    facts.container.name = None;
    let rule = rule("model == '' && key.id == '' && key.name == '' && container.name == ''").unwrap();
    assert_eq!(rule.holds(&facts), Ok(true));
}

#[test]
fn what_is_written_wrongly_is_named() {
    for (when, words) in [
        ("", "no expression"),
        ("code ==", "column"),
        ("import.exists(m, m)", ""),
        ("cod.contains('x')", "there is no name 'cod'; possible here: code, imports"),
        ("false && nonsense", "there is no name 'nonsense'"),
        ("imports.exists(m, n == 'os')", "there is no name 'n'"),
        ("key.nam == 'x'", "there is no field 'nam'; possible here: id, name, owner"),
        ("code.text == 'x'", "'code' has no field 'text'"),
        ("true || code.has('x')", "there is no function 'has'"),
        ("false && exec('x')", "there is no function 'exec'"),
        ("code", "true or false"),
        ("size(code)", "true or false, not as int"),
        ("code + 1 == 'x'", ""),
        ("code.contains(7)", "overload"),
        ("false && code.matches('(')", "no regular expression"),
        ("Thing{a: 1} == 2", "there is no type 'Thing'"),
    ] {
        let said = rule(when).expect_err(when).to_string();
        assert!(said.contains(words), "{when}: {said}");
    }
    assert!(rule(&format!("code == '{}'", "x".repeat(20_000))).is_err());
    assert!(rule(&"(".repeat(3000)).is_err());
    assert!(rule(&")".repeat(3000)).is_err());
}

#[test]
fn what_only_some_code_brings_about_is_an_error_then() {
    let rule = rule("imports[0] == 'os'").unwrap();
    let mut facts = facts();
    assert_eq!(rule.holds(&facts), Ok(true));
    facts.imports.clear();
    assert!(rule.holds(&facts).unwrap_err().contains("bounds"));
}

/// Whether it is taken or not: the program goes on.
#[test]
fn long_and_deep_expressions_end_well() {
    let deep = super::super::expression::DEEPEST;
    assert!(rule(&format!("{}true{}", "(".repeat(deep), ")".repeat(deep))).is_ok());
    for (begin, piece, end) in [
        ("", "true ? true : ", "true"),
        ("", "!", "true"),
        ("", "-", "1 == 1"),
        ("", "true && ", "true"),
        ("", "true || ", "true"),
        ("1 == 1", " + 1", ""),
        ("code", ".a", ""),
        ("code", "[0]", ""),
        ("key", ".id", " == ''"),
        ("true", " == true", ""),
        ("true", " in [true]", ""),
        ("'a' in ", "imports + ", "imports"),
        ("code", ".contains('a')", ""),
        ("", "imports.exists(a, ", "true"),
    ] {
        let text = format!("{begin}{}{end}", piece.repeat((4000 - begin.len() - end.len()) / piece.len()));
        let _ = rule(&text).map(|rule| rule.holds(&facts()));
    }
}
