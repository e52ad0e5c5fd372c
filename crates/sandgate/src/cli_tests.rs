//! The command line is read as its help says.

use clap::CommandFactory;

use super::*;

fn run(words: &[&str]) -> Result<RunArgs, clap::Error> {
    let cli = Cli::try_parse_from(["sandgate", "run"].iter().chain(words))?;
    match cli.command {
        Command::Run(args) => Ok(args),
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_definition_is_sound() {
    Cli::command().debug_assert();
}

#[test]
fn code_may_begin_with_a_dash() {
    assert_eq!(run(&["-c", "-1"]).unwrap().code.unwrap(), "-1");
    assert_eq!(run(&["-"]).unwrap().source.unwrap(), PathBuf::from("-"));
}

#[test]
fn code_and_a_file_exclude_each_other() {
    assert_eq!(run(&["-c", "1", "file.py"]).unwrap_err().exit_code(), 2);
}

#[test]
fn bounds_are_checked() {
    let args = run(&["x.py", "--timeout", "0.5", "--memory", "512m"]).unwrap();
    assert_eq!(args.sandbox.timeout, Some(Duration::from_millis(500)));
    assert_eq!(args.sandbox.memory, Some(512 << 20));
    for words in [["--timeout", "0"], ["--timeout", "-1"], ["--timeout", "soon"], ["--memory", "1k"]] {
        assert!(run(&words).is_err(), "{words:?}");
    }
}
