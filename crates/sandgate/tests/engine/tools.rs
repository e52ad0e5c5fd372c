//! What people install and call out of habit: packages by commands and by code, `sudo`, pipes, attributes.

use sandgate_core::{ProcessEnd, ProcessEvent, StartProcess};
use tokio::time::timeout;

use crate::common::{LONGEST, Place, Read, run, sandbox};
use crate::languages::with_runtimes;

/// What a command says on both of its streams; it must end well.
async fn command(place: &Place, text: &str) -> String {
    let (said, end) = ended(place, text).await;
    assert_eq!(end, ProcessEnd::Exited { code: 0 }, "{text}: {said}");
    said
}

async fn ended(place: &Place, text: &str) -> (String, ProcessEnd) {
    let args = vec!["-l".to_owned(), "-c".to_owned(), text.to_owned()];
    let start = StartProcess { program: "/bin/bash".into(), args, ..StartProcess::default() };
    let mut joined = place.processes().await.unwrap().start(start).await.unwrap();
    let mut said = Vec::new();
    loop {
        match timeout(LONGEST, joined.events.recv()).await.expect("it ends").expect("an end") {
            ProcessEvent::Stdout(bytes) | ProcessEvent::Stderr(bytes) | ProcessEvent::Terminal(bytes) => {
                said.extend_from_slice(&bytes);
            }
            ProcessEvent::Ended(end) => return (String::from_utf8_lossy(&said).into_owned(), end),
        }
    }
}

/// Makes wheels with a module and a command each, which say their version.
const WHEELS: &str = r"
import zipfile
def wheel(name, version):
    info = f'{name}-{version}.dist-info'
    with zipfile.ZipFile(f'/tmp/{name}-{version}-py3-none-any.whl', 'w') as made:
        made.writestr(f'{name}.py', f'VALUE = {version!r}\ndef main(): print({name!r}, VALUE)\n')
        made.writestr(f'{info}/METADATA', f'Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n')
        made.writestr(f'{info}/WHEEL', 'Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n')
        made.writestr(f'{info}/entry_points.txt', f'[console_scripts]\nsay-{name}={name}:main\n')
        made.writestr(f'{info}/RECORD', '')
for name, version in ('first', '1.0'), ('first', '2.0'), ('second', '1.0'), ('cycler', '99.0'):
    wheel(name, version)
";

#[test]
fn packages_that_a_command_installs_are_there_for_commands_and_for_code() {
    run(async {
        let place = sandbox().await;
        place.ok(WHEELS).await;
        let said = command(&place, "pip install /tmp/first-1.0-py3-none-any.whl").await;
        assert!(said.contains("Successfully installed first-1.0") && !said.contains("WARNING"), "{said}");
        command(&place, "python3 -m pip install --user /tmp/second-1.0-py3-none-any.whl").await;
        assert_eq!(command(&place, "say-first; say-second").await, "first 1.0\nsecond 1.0\n");
        // Whoever says where modules are does not lose the installed ones.
        let asked = "cd /tmp; PYTHONPATH=. python3 -c 'import first, second; print(first.__file__)'";
        let expected = "/home/user/.packages/lib/python3";
        assert!(command(&place, asked).await.starts_with(expected));
        assert_eq!(place.value("import first\nfirst.VALUE").await, "'1.0'");
        // Another version takes the place of the first.
        let said = command(&place, "pip install /tmp/first-2.0-py3-none-any.whl").await;
        assert!(said.contains("Uninstalling first-1.0") && !said.contains("WARNING"), "{said}");
        assert_eq!(command(&place, "say-first; say-second").await, "first 2.0\nsecond 1.0\n");
        // Also of a package of the runtime, which stays where it is.
        command(&place, "pip install /tmp/cycler-99.0-py3-none-any.whl").await;
        assert_eq!(command(&place, "say-cycler").await, "cycler 99.0\n");
        command(&place, "pip uninstall -y cycler second").await;
        assert!(
            command(&place, "python3 -c 'import cycler; print(cycler.__file__)'")
                .await
                .starts_with("/opt/venv/")
        );
        assert!(ended(&place, "python3 -c 'import second'").await.0.contains("ModuleNotFoundError"));
    });
}

#[test]
fn packages_that_code_installs_are_there_for_commands() {
    run(async {
        let place = sandbox().await;
        place.ok(WHEELS).await;
        place.ok("%pip install /tmp/first-1.0-py3-none-any.whl").await;
        assert_eq!(place.value("import first\nfirst.VALUE").await, "'1.0'");
        assert_eq!(command(&place, "say-first").await, "first 1.0\n");
        // A program that installs what it then imports.
        let script = "import subprocess, sys\nsubprocess.check_output([sys.executable, '-m', 'pip', 'install', '/tmp/second-1.0-py3-none-any.whl'])\nimport second\nprint(second.VALUE)";
        let quoted = format!("cat > /tmp/x.py <<'END'\n{script}\nEND\nrm -rf ~/.packages; python3 /tmp/x.py");
        assert_eq!(command(&place, &quoted).await, "1.0\n");
    });
}

#[test]
fn pip_installs_where_it_is_told_and_into_environments_of_ones_own() {
    run(async {
        let place = sandbox().await;
        place.ok(WHEELS).await;
        let wheel = "/tmp/first-1.0-py3-none-any.whl";
        let said = command(&place, &format!("pip install -t /tmp/there {wheel}; ls /tmp/there")).await;
        assert!(said.contains("first.py"), "{said}");
        let own = format!(
            "python3 -m venv /tmp/own && . /tmp/own/bin/activate && pip install -q {wheel} && say-first && python3 -c 'import first; print(first.__file__)'"
        );
        let said = command(&place, &own).await;
        assert!(said.starts_with("first 1.0\n/tmp/own/lib/python3"), "{said}");
        assert!(ended(&place, "python3 -c 'import first'").await.0.contains("ModuleNotFoundError"));
        let project = "mkdir -p /tmp/p/src/mine; cd /tmp/p; echo VALUE = 5 > src/mine/__init__.py; cd ~/.packages/lib/python3*/site-packages; echo /tmp/p/src > mine.pth; cd /; python3 -c 'import mine; print(mine.VALUE)'";
        assert_eq!(command(&place, project).await, "5\n", "what an editable install leaves is read");
    });
}

#[test]
fn npm_installs_commands() {
    with_runtimes();
    run(async {
        let place = sandbox().await;
        let make = "mkdir -p /tmp/tool; cd /tmp/tool; echo '{\"name\":\"tool\",\"version\":\"1.0.0\",\"bin\":{\"say-tool\":\"tool.js\"}}' > package.json; printf '#!/usr/bin/env node\\nconsole.log(\"tool 1\")\\n' > tool.js; chmod +x tool.js; npm pack --silent";
        command(&place, make).await;
        command(&place, "npm install -g --offline /tmp/tool/tool-1.0.0.tgz").await;
        assert_eq!(
            command(&place, "say-tool; command -v say-tool").await,
            "tool 1\n/home/user/.packages/bin/say-tool\n"
        );
    });
}

#[test]
fn sudo_runs_commands_as_the_only_user() {
    run(async {
        let place = sandbox().await;
        for (line, expected) in [
            ("sudo id -un", "user\n"),
            ("sudo -n -E -H id -un", "user\n"),
            ("sudo -u nobody -- id -un", "user\n"),
            ("sudo -nEu root id -un", "user\n"),
            ("sudo -uroot --preserve-env id -un", "user\n"),
            ("sudo FOO=bar sh -c 'echo $FOO'", "bar\n"),
            ("echo word | sudo -S cat", "word\n"),
            ("echo 'echo in a shell' | sudo -i", "in a shell\n"),
            ("sudo -v", ""),
        ] {
            assert_eq!(command(&place, line).await, expected, "{line}");
        }
        let (said, end) = ended(&place, "sudo no-such-command -x").await;
        assert_eq!(
            (&*said, end),
            ("sudo: no-such-command: command not found\n", ProcessEnd::Exited { code: 1 })
        );
        assert_eq!(ended(&place, "sudo sh -c 'exit 7'").await.1, ProcessEnd::Exited { code: 7 });
        assert_eq!(place.ok("!sudo id -un").await.stdout, "user\n");
    });
}

#[test]
fn the_system_says_which_distribution_it_is() {
    run(async {
        let place = sandbox().await;
        let host = std::fs::read_to_string("/etc/os-release").unwrap();
        let id = host.lines().find(|line| line.starts_with("ID=")).unwrap();
        let inside = command(&place, "cat /etc/os-release").await;
        assert!(inside.lines().any(|line| line == id), "{inside}");
        assert!(inside.contains("Sandgate sandbox"), "{inside}");
        if std::path::Path::new("/etc/services").exists() {
            assert_eq!(place.value("import socket\nsocket.getservbyname('https')").await, "443");
        }
    });
}

#[test]
fn calls_that_are_newer_than_the_filter_look_as_if_the_kernel_had_none() {
    run(async {
        let place = sandbox().await;
        let call = "import ctypes, errno, os, stat\nlibc = ctypes.CDLL(None, use_errno=True)\ndef call(number, *words):\n    done = libc.syscall(number, *words)\n    return errno.errorcode[ctypes.get_errno()] if done else 'done'\nopen('/tmp/f', 'w').close()\n";
        assert_eq!(place.value(&format!("{call}call(500)")).await, "'ENOSYS'");
        assert_eq!(place.value("call(447, 0)").await, "'EPERM'", "known, and refused");
        // What newer C libraries change modes by.
        let known = place.value("call(452, -100, b'/tmp/f', 0o604, 0)").await;
        if known == "'done'" {
            assert_eq!(place.value("oct(os.stat('/tmp/f').st_mode & 0o777)").await, "'0o604'");
        } else {
            assert_eq!(known, "'ENOSYS'", "a kernel that has it not");
        }
    });
}

#[test]
fn attributes_are_set_by_code_where_they_count() {
    run(async {
        let place = sandbox().await;
        let set = "import os\nos.chdir('/home/user')\nopen('f', 'w').close()\ndef told(do):\n    try:\n        return do()\n    except OSError as problem:\n        return problem.errno\ntold(lambda: os.setxattr('f', 'user.mine', b'1'))";
        let outcome = place.ok(set).await;
        if outcome.results.is_empty() {
            assert_eq!(place.value("os.getxattr('f', 'user.mine')").await, "b'1'");
            // A block of them is a block of the file.
            place.ok("os.setxattr('f', 'user.large', b'x' * 3000)").await;
            assert_ne!(place.value("os.stat('f').st_blocks").await, "0");
            place.ok("os.removexattr('f', 'user.mine')").await;
            assert_eq!(place.value("os.listxattr('f')").await, "['user.large']");
        } else {
            assert_eq!(outcome.value(), "95", "the disk below keeps none, or does not count");
        }
        for name in ["security.capability", "trusted.mine"] {
            let refused = place.value(&format!("told(lambda: os.setxattr('f', {name:?}, b'1'))")).await;
            assert!(["1", "22", "95"].contains(&&*refused), "{name}: {refused}");
        }
    });
}

#[test]
fn named_pipes_carry_what_is_written() {
    run(async {
        let place = sandbox().await;
        let said = command(
            &place,
            "cd; mkfifo pipe && (echo through > pipe &) && cat pipe; mknod /tmp/x c 1 3 2>&1 || true",
        )
        .await;
        assert!(said.starts_with("through\n") && said.contains("not permitted"), "{said}");
    });
}
