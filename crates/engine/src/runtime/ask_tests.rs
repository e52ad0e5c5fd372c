//! Judging answers of interpreters that this machine does not have.

use super::*;

fn answer(change: impl FnOnce(&mut Answer)) -> Answer {
    let mut answer = Answer {
        version: [3, 12, 4],
        prerelease: false,
        implementation: "cpython".to_owned(),
        interpreter: PathBuf::from("/usr/bin/env"),
        base_prefix: PathBuf::from("/usr"),
        config_args: String::new(),
        cflags: "-O2 -Wall".to_owned(),
        debug: false,
        free_threaded: false,
        missing: Vec::new(),
        mapped: vec![PathBuf::from("/usr/lib/x86_64-linux-gnu/libc.so.6")],
    };
    change(&mut answer);
    answer
}

fn reason(change: impl FnOnce(&mut Answer)) -> String {
    answer(change).suitable().expect_err("must not be suitable").to_string()
}

#[test]
fn an_ordinary_answer_is_suitable() {
    assert_eq!(answer(|_| {}).suitable(), Ok(()));
}

#[test]
fn each_reason_is_said_in_words() {
    assert_eq!(reason(|a| a.version = [3, 9, 2]), "is version 3.9.2, and 3.11 to 3.14 is needed");
    assert_eq!(reason(|a| a.version = [3, 15, 0]), "is version 3.15.0, and 3.11 to 3.14 is needed");
    assert!(reason(|a| a.prerelease = true).contains("3.12.4 before its release"));
    assert_eq!(reason(|a| a.implementation = "pypy".to_owned()), "is pypy, and ordinary CPython is needed");
    assert!(reason(|a| a.free_threaded = true).contains("free-threaded"));
    assert_eq!(reason(|a| a.missing = vec!["ensurepip".to_owned()]), "lacks its module ensurepip");
}

#[test]
fn what_a_sandbox_cannot_show_is_passed_over() {
    assert!(reason(|a| a.base_prefix = PathBuf::from("/")).contains("holds more than Python"));
    assert!(reason(|a| a.base_prefix = PathBuf::from("/tmp/py")).contains("under /tmp"));
    let nix = |a: &mut Answer| a.mapped.push(PathBuf::from("/nix/store/abc-glibc/lib/libc.so.6"));
    assert!(reason(nix).contains("it needs /nix/store/abc-glibc/lib/libc.so.6 outside of its folder /usr"));
    assert!(reason(|a| a.interpreter = PathBuf::from("/usr/bin/no-such-python")).contains("is not there"));
}

#[test]
fn optimised_means_profiled_or_the_distributions() {
    assert!(answer(|_| {}).is_optimised());
    assert!(!answer(|a| a.debug = true).is_optimised());
    let pyenv = |a: &mut Answer| a.base_prefix = PathBuf::from("/srv/pyenv/versions/3.12.4");
    assert!(!answer(pyenv).is_optimised());
    let official = |a: &mut Answer| {
        a.base_prefix = PathBuf::from("/usr/local");
        a.config_args = "'--enable-optimizations' '--with-lto'".to_owned();
    };
    assert!(answer(official).is_optimised());
}
