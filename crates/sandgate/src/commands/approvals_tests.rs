//! Code is shown as it is, and cannot show itself as something else.

use super::*;

#[test]
fn code_is_shown_whole_and_without_tricks() {
    let held = json!([{
        "id": "appr_1", "created_at": now_seconds(), "expires_at": now_seconds() + 100, "door": "chat",
        "model": "m", "key": {"id": "key_1", "name": "ci", "owner": "team"}, "container": {"id": "cntr_1"},
        "language": "python", "imports": ["os", "sys"], "asked_by": {"by": "rule", "rule": "look"},
        "asked_reason": "twice", "code": "x = '\u{1b}[2J'\n\ty = \"é\u{202e}\"\r"
    }]);
    let text = shown(held.as_array().unwrap());
    for words in [
        "appr_1  asked 0 s ago",
        "key ci of team, model m, container cntr_1, by chat",
        "rule 'look': twice",
        "python imports: os, sys",
        "  | x = '\\u{1b}[2J'\n",
        "  | \ty = \"é\\u{202e}\"\\r\n",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    assert_eq!(shown(&[]), "nothing waits for a decision\n");
}

#[test]
fn a_server_that_is_not_there_is_called_a_server() {
    let command = ApprovalsCommand::List { wait: false };
    let server = "http://127.0.0.1:1".to_owned();
    let args = ApprovalsArgs { command, server, key: "sk-any".to_owned(), json: false };
    let said = format!("{:#}", runtime().unwrap().block_on(done(&args)).unwrap_err());
    assert!(said.starts_with("the server at http://127.0.0.1:1 cannot be reached: "), "{said}");
}
