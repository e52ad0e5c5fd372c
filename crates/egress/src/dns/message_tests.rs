//! Questions are read strictly; answers are believed only when they are to the question.

use std::net::Ipv4Addr;

use super::{NO_ERROR, NO_SUCH_NAME, TYPE_A, TYPE_AAAA, ask, parse_answer, parse_question};

#[test]
fn a_question_is_read_and_answered() {
    let asked = ask(7, "Example.org", TYPE_A);
    let question = parse_question(&asked).unwrap();
    assert_eq!((question.id, question.name.as_str(), question.kind), (7, "Example.org", TYPE_A));
    let answer = question.answer(NO_ERROR, Some(Ipv4Addr::new(198, 18, 0, 1)), 30, None);
    let address = Ipv4Addr::new(198, 18, 0, 1).into();
    assert_eq!(parse_answer(&answer, &asked), Some((false, NO_ERROR, vec![address])));
    let none = question.answer(NO_SUCH_NAME, None, 0, Some("why"));
    assert_eq!(parse_answer(&none, &asked), Some((false, NO_SUCH_NAME, vec![])));
}

#[test]
fn the_reason_is_told_to_those_who_can_hear_it() {
    let mut asked = ask(7, "example.org", TYPE_A);
    let plain = parse_question(&asked).unwrap().answer(NO_SUCH_NAME, None, 0, Some("not allowed"));
    assert!(!plain.windows(11).any(|part| part == b"not allowed"));
    asked[11] = 1;
    asked.extend([0, 0, 41, 4, 208, 0, 0, 0, 0, 0, 0]);
    let told = parse_question(&asked).unwrap().answer(NO_SUCH_NAME, None, 0, Some("not allowed"));
    assert!(told.windows(11).any(|part| part == b"not allowed"));
}

#[test]
fn what_is_no_plain_question_is_not_answered() {
    let asked = ask(7, "example.org", TYPE_A);
    for cut in 0..asked.len() {
        assert_eq!(parse_question(&asked[..cut]), None, "{cut}");
    }
    for (at, value) in [(2, 0x80), (2, 0x28), (5, 2), (7, 1), (12, 0xc0), (12, 64)] {
        let mut other = asked.clone();
        other[at] = value;
        assert_eq!(parse_question(&other), None, "byte {at}");
    }
}

#[test]
fn a_dot_inside_a_label_makes_no_other_name() {
    let mut asked = ask(7, "aXevil.example.org", TYPE_A);
    asked[14] = b'.';
    assert_eq!(parse_question(&asked).unwrap().name, "a?evil.example.org");
}

#[test]
fn answers_to_other_questions_are_not_believed() {
    let asked = ask(7, "example.org", TYPE_A);
    let answer = parse_question(&asked).unwrap().answer(NO_ERROR, Some(Ipv4Addr::LOCALHOST), 1, None);
    for other in
        [ask(8, "example.org", TYPE_A), ask(7, "example.com", TYPE_A), ask(7, "example.org", TYPE_AAAA)]
    {
        assert_eq!(parse_answer(&answer, &other), None);
    }
    assert_eq!(parse_answer(&asked, &asked), None, "a question is no answer");
    assert!(parse_answer(&answer[..answer.len() - 1], &asked).is_none_or(|(_, _, found)| found.is_empty()));
}
