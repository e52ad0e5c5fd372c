//! What rules are shown of a command.

use super::*;

fn command(program: &str, args: &[&str]) -> String {
    let args = args.iter().map(|word| (*word).to_owned()).collect();
    as_text(&StartProcess { program: program.to_owned(), args, ..StartProcess::default() })
}

#[test]
fn a_shell_is_known_by_its_text_and_anything_else_by_its_words() {
    assert_eq!(command("/bin/bash", &["-l", "-c", "echo hi; rm -rf x"]), "echo hi; rm -rf x");
    assert_eq!(command("sh", &["-c", "ls", "name"]), "ls name");
    assert_eq!(command("python3", &["-c", "print(1)"]), "python3 -c print(1)");
    assert_eq!(command("/bin/bash", &["-i", "-l"]), "/bin/bash -i -l");
    assert_eq!(command("bash", &["-c"]), "bash -c");
}
