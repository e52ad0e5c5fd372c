//! The lines are copied from real runs.

use super::Counts;

fn counts(lines: &[&str]) -> (u64, u64) {
    let mut counts = Counts::default();
    lines.iter().for_each(|line| counts.read(line));
    (counts.passed, counts.failed)
}

#[test]
fn cargo_binaries_add_up() {
    let lines = [
        "running 3 tests",
        "test counts::tests::x ... ok",
        "test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s\n",
        "test result: FAILED. 10 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1.20s",
    ];
    assert_eq!(counts(&lines), (13, 2));
}

#[test]
fn python_suites_count_what_was_not_skipped() {
    assert_eq!(counts(&["Ran 78 tests in 12.345s", "", "OK"]), (78, 0));
    assert_eq!(counts(&["Ran 1 test in 0.001s", "", "OK (skipped=1)"]), (0, 0));
    let verdict = "FAILED (failures=1, errors=2, skipped=3, expected failures=1)";
    assert_eq!(counts(&["Ran 20 tests in 3.000s", "", verdict]), (14, 3));
}

#[test]
fn other_lines_count_nothing() {
    let lines =
        ["OK", "FAILED (failures=9)", "Ran out of ideas", "12 passed, 3 failed", "test result: nonsense"];
    assert_eq!(counts(&lines), (0, 0));
}

#[test]
fn reads_as_ci_expects() {
    assert_eq!(Counts { passed: 12, failed: 0, ran: 7 }.to_string(), "12 passed, 0 failed");
}
