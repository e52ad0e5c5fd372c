//! Images, and how much may be asked for.

use super::*;

fn checked(file: OpenSandboxFile) -> Result<OpenSandboxSettings, String> {
    check(&file, 1 << 30).map_err(|problem| format!("{problem:?}"))
}

#[test]
fn without_anything_a_sandbox_may_have_the_machines_processors() {
    let settings = checked(OpenSandboxFile::default()).unwrap();
    assert_eq!(settings.max_memory, 1 << 30);
    assert_eq!(settings.max_cpu_millis % 1000, 0);
    assert!(settings.max_cpu_millis >= 1000);
    assert_eq!(settings.max_timeout, Duration::from_secs(24 * 60 * 60));
}

#[test]
fn what_says_nothing_is_refused() {
    let refused = |file| checked(file).unwrap_err();
    let short = OpenSandboxFile { max_timeout_seconds: 59, ..OpenSandboxFile::default() };
    assert!(refused(short).contains("at least 60"));
    let none = OpenSandboxFile { max_cpu_millis: Some(0), ..OpenSandboxFile::default() };
    assert!(refused(none).contains("at least 1"));
    let unnamed =
        OpenSandboxFile { images: vec!["app".to_owned(), " ".to_owned()], ..OpenSandboxFile::default() };
    assert!(refused(unnamed).contains("no name of an image"));
}
