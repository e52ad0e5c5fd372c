//! The cases: what every backend does, in one way.

use std::collections::BTreeMap;
use std::net::{IpAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use sandgate_backends::RemoteBackend;
use sandgate_core::{
    Backend, BackendError, CodeError, Ending, Event, ExecuteRequest, Execution, FileChangeKind, FileKind,
    Limits, Note, SandboxSpec,
};

use crate::common::{Read, Target, finished, next_stdout, path};

/// However the provider cuts it.
async fn until_stdout(execution: &mut Execution, wanted: &str) {
    let mut said = String::new();
    while said != wanted {
        said.push_str(&next_stdout(execution).await);
        assert!(wanted.starts_with(&said), "{said:?}");
    }
}

pub(crate) async fn state_lasts(target: &Target) {
    let place = target.sandbox().await;
    place.ok("x = 20\ndef double(n): return 2 * n").await;
    place.ok("import json\nx += 1").await;
    assert_eq!(place.ok("double(x)").await.value(), "42");
    assert_eq!(place.ok("json.dumps([x])").await.value(), "'[21]'");
}

pub(crate) async fn last_value(target: &Target) {
    let place = target.sandbox().await;
    let left = place.ok("print([name for name in dir() if 'sandgate' in name])").await;
    assert_eq!(left.stdout, "[]\n", "what the gate teaches an interpreter leaves no names");
    assert_eq!(place.ok("6 * 7").await.value(), "42");
    assert_eq!(place.ok("[1, 'two', None]").await.value(), "[1, 'two', None]");
    for text in ["'007'", r#""it's""#, "''", r"'\\n'"] {
        assert_eq!(place.ok(text).await.value(), text, "a text is not taken for a number");
    }
    for nothing in ["x = 6 * 7", "None", "print('said')"] {
        assert!(place.ok(nothing).await.results.is_empty(), "{nothing}");
    }
}

pub(crate) async fn output_in_order(target: &Target) {
    let place = target.sandbox().await;
    let code =
        "import sys\nfor n in range(3):\n    print('out', n)\n    print('err', n, file=sys.stderr)\n'value'";
    let outcome = place.ok(code).await;
    assert_eq!(outcome.stdout, "out 0\nout 1\nout 2\n");
    assert_eq!(outcome.stderr, "err 0\nerr 1\nerr 2\n");
    let spoken: Vec<String> = outcome
        .outputs
        .iter()
        .filter_map(|event| match event {
            Event::Stdout { text } | Event::Stderr { text } => Some(text.clone()),
            _ => None,
        })
        .collect();
    assert_eq!(spoken.concat(), "out 0\nerr 0\nout 1\nerr 1\nout 2\nerr 2\n");
    assert!(matches!(outcome.outputs.last(), Some(Event::Result { .. })), "{outcome:#?}");
}

/// It comes while the code still runs.
pub(crate) async fn output_streams(target: &Target) {
    let place = target.sandbox().await;
    let mut execution =
        place.start("import time\nprint('first', flush=True)\nwhile True: time.sleep(0.05)").await;
    until_stdout(&mut execution, "first\n").await;
    execution.handle.interrupt();
    assert_eq!(finished(execution).await.ending, Ending::Interrupted);
}

pub(crate) async fn traceback(target: &Target) {
    let place = target.sandbox().await;
    let outcome = place.cell("print('before')\ndef fails():\n    return 1 / 0\nfails()").await;
    assert_eq!(outcome.raised(), "ZeroDivisionError");
    assert_eq!(outcome.stdout, "before\n");
    let Some(CodeError { value, traceback, .. }) = &outcome.error else { panic!("{outcome:#?}") };
    assert_eq!(value, "division by zero");
    let text = traceback.join("\n");
    assert!(text.contains("fails") && text.contains("ZeroDivisionError"), "{text}");
    let syntax = place.cell("def (").await;
    assert_eq!(syntax.raised(), "SyntaxError");
    assert_eq!(place.ok("'goes on'").await.value().trim_matches('\''), "goes on");
}

pub(crate) async fn awaited_at_the_top(target: &Target) {
    let place = target.sandbox().await;
    let code =
        "import asyncio\nasync def later(): return 42\ntask = asyncio.ensure_future(later())\nawait later()";
    assert_eq!(place.ok(code).await.value(), "42");
    assert_eq!(place.ok("found = await task\nfound + 1").await.value(), "43");
    assert_eq!(place.cell("await later()\n1 / 0").await.raised(), "ZeroDivisionError");
}

pub(crate) async fn exit_is_an_error(target: &Target) {
    let place = target.sandbox().await;
    for (code, value) in [("import sys\nsys.exit(3)", "3"), ("sys.exit('why')", "why"), ("sys.exit()", "0")] {
        let outcome = place.cell(code).await;
        assert_eq!(outcome.raised(), "SystemExit");
        assert_eq!(outcome.error.map(|error| error.value).as_deref(), Some(value));
    }
    assert_eq!(place.ok("1 + 1").await.value(), "2");
}

pub(crate) async fn semicolon_hides_the_value(target: &Target) {
    let place = target.sandbox().await;
    for code in ["1;", "1;  # why", "'ž' * 2;"] {
        assert!(place.ok(code).await.results.is_empty(), "{code}");
    }
    for code in ["6 * 7  # x;", "';'\n42", "6 * (\n7\n)  # 1;"] {
        assert_eq!(place.ok(code).await.value(), "42", "{code}");
    }
}

pub(crate) async fn figure(target: &Target) {
    let place = target.sandbox().await;
    let code = "import matplotlib.pyplot as plt\nplt.plot([1, 2], [3, 4])\nplt.show()\nprint('shown')";
    let outcome = place.ok(code).await;
    assert_eq!(outcome.stdout, "shown\n");
    let pictures: Vec<_> =
        outcome.results.iter().filter_map(|result| result.data.get("image/png")?.as_str()).collect();
    let [picture] = pictures[..] else {
        panic!("one picture is wanted: {} {:#?}", pictures.len(), outcome.ending)
    };
    let png = BASE64_STANDARD.decode(picture.trim()).expect("base64");
    assert!(png.starts_with(b"\x89PNG") && png.len() > 1000, "{} bytes", png.len());
}

pub(crate) async fn displayed(target: &Target) {
    let place = target.sandbox().await;
    let outcome = place
        .ok("class Rich:\n    def _repr_html_(self): return '<b>rich</b>'\ndisplay(Rich())\nRich()")
        .await;
    let html =
        outcome.results.iter().map(|result| (result.data["text/html"].as_str().unwrap(), result.last_value));
    assert_eq!(html.collect::<Vec<_>>(), [("<b>rich</b>", false), ("<b>rich</b>", true)]);
}

pub(crate) async fn files_in_and_out(target: &Target) {
    let place = target.sandbox().await;
    place.put("/mnt/data/deep/in.csv", b"a,b\n1,2\n").await;
    assert_eq!(place.ok("print(open('deep/in.csv').read(), end='')").await.stdout, "a,b\n1,2\n");
    place.ok("open('/mnt/data/out.txt', 'w').write('made inside');").await;
    assert_eq!(place.get("/mnt/data/out.txt").await, b"made inside");
    place.put("/mnt/data/out.txt", b"replaced").await;
    assert_eq!(place.ok("print(open('out.txt').read())").await.stdout, "replaced\n");
    let missing = place.files().open(&path("/mnt/data/none"), None).await;
    assert!(matches!(missing, Err(BackendError::NoSuchFile(_))), "{missing:?}");
}

pub(crate) async fn files_listed(target: &Target) {
    let place = target.sandbox().await;
    place.put("/mnt/data/a.txt", b"four").await;
    place.ok("import os\nos.makedirs('folder/inner')\nopen('folder/inner/deep', 'w').write('x');").await;
    let listed = place.files().list(&path("/mnt/data"), 3).await.expect("a list");
    let found: BTreeMap<&str, (FileKind, u64)> = listed
        .iter()
        .map(|stat| {
            (stat.path.as_str(), (stat.kind, if stat.kind == FileKind::File { stat.size } else { 0 }))
        })
        .collect();
    let wanted = [
        ("/mnt/data/a.txt", (FileKind::File, 4)),
        ("/mnt/data/folder", (FileKind::Directory, 0)),
        ("/mnt/data/folder/inner", (FileKind::Directory, 0)),
        ("/mnt/data/folder/inner/deep", (FileKind::File, 1)),
    ];
    assert_eq!(found, BTreeMap::from(wanted));
    let stat = place.files().stat(&path("/mnt/data/a.txt")).await.expect("a file");
    assert_eq!((stat.kind, stat.size), (FileKind::File, 4));
    let moved =
        place.files().rename(&path("/mnt/data/a.txt"), &path("/mnt/data/b.txt")).await.expect("moved");
    assert_eq!(moved.path, "/mnt/data/b.txt");
    place.files().remove(&path("/mnt/data/folder")).await.expect("removed");
    let names: Vec<_> = place
        .files()
        .list(&path("/mnt/data"), 1)
        .await
        .expect("a list")
        .into_iter()
        .map(|stat| stat.path)
        .collect();
    assert_eq!(names, ["/mnt/data/b.txt"]);
}

pub(crate) async fn changes_told(target: &Target) {
    let place = target.sandbox().await;
    place.put("/mnt/data/old.txt", b"old").await;
    place.put("/mnt/data/gone.txt", b"gone").await;
    place.put("/mnt/data/same.txt", b"same").await;
    let code = "import os\nopen('new.txt', 'w').write('12345')\nopen('old.txt', 'w').write('newer')\nos.remove('gone.txt')";
    let outcome = place.ok(code).await;
    let mut told: Vec<_> = outcome.files.iter().map(|change| (change.path.as_str(), change.kind)).collect();
    told.sort_by_key(|(path, _)| *path);
    let wanted = [
        ("/mnt/data/gone.txt", FileChangeKind::Removed),
        ("/mnt/data/new.txt", FileChangeKind::Created),
        ("/mnt/data/old.txt", FileChangeKind::Modified),
    ];
    assert_eq!(told, wanted);
    assert!(place.ok("1").await.files.is_empty());
}

pub(crate) async fn binary_files(target: &Target) {
    let place = target.sandbox().await;
    let content: Vec<u8> = (0..=255).cycle().take(300_000).collect();
    place.put("/mnt/data/b.bin", &content).await;
    let code =
        "data = open('b.bin', 'rb').read()\nopen('c.bin', 'wb').write(data[::-1])\nlen(data), sum(data)";
    let sum: u64 = content.iter().map(|byte| u64::from(*byte)).sum();
    assert_eq!(place.ok(code).await.value(), format!("(300000, {sum})"));
    let back: Vec<u8> = content.into_iter().rev().collect();
    assert_eq!(place.get("/mnt/data/c.bin").await, back);
    place.put("/mnt/data/empty", b"").await;
    assert_eq!(place.get("/mnt/data/empty").await, b"");
}

pub(crate) async fn unicode(target: &Target) {
    let place = target.sandbox().await;
    place.put("/mnt/data/žlutý kůň & 100% 'x'.txt", "příliš 🐎".as_bytes()).await;
    let code = "import os\nname, = os.listdir('.')\nprint(name, open(name, encoding='utf-8').read())\n'日本' + 'x' * 3";
    let outcome = place.ok(code).await;
    assert_eq!(outcome.stdout, "žlutý kůň & 100% 'x'.txt příliš 🐎\n");
    assert_eq!(outcome.value().trim_matches('\''), "日本xxx");
}

pub(crate) async fn contexts(target: &Target) {
    let place = target.sandbox().await;
    place.ok("x = 'default'").await;
    let other = place.context().await;
    assert_eq!(place.in_context(&other, "x").await.raised(), "NameError");
    place.in_context(&other, "x = 'other'").await.assert_ok();
    assert_eq!(place.ok("x").await.value().trim_matches('\''), "default");
    assert_eq!(place.in_context(&other, "x").await.value().trim_matches('\''), "other");
    // They share the files.
    place.in_context(&other, "open('/mnt/data/shared', 'w').write('both');").await.assert_ok();
    assert_eq!(place.ok("print(open('/mnt/data/shared').read())").await.stdout, "both\n");
    let ids: Vec<_> = place.contexts().await.expect("a list").into_iter().map(|info| info.id).collect();
    assert!(ids.contains(&other), "{ids:?}");
    place.delete_context(&other).await.expect("deleted");
    let code = "1".to_owned();
    let gone =
        place.execute(ExecuteRequest { code, context: Some(other), ..ExecuteRequest::default() }).await;
    assert!(matches!(gone, Err(BackendError::NoSuchContext(_))), "{gone:?}");
}

pub(crate) async fn timeout_ends_code(target: &Target) {
    let place = target.sandbox().await;
    let outcome = place.cell_within("print('begun')\nwhile True: pass", Duration::from_secs(2)).await;
    assert_eq!(outcome.ending, Ending::TimedOut, "{outcome:#?}");
    assert_eq!(outcome.stdout, "begun\n");
    assert_eq!(place.ok("1 + 1").await.value(), "2");
}

/// What swallows an interrupt is ended by force, and nobody waits behind it.
pub(crate) async fn timeout_ends_code_that_will_not_hear(target: &Target) {
    let place = target.sandbox().await;
    place.ok("open('kept', 'w').write('file');").await;
    let code = "import time\nprint('begun', flush=True)\nwhile True:\n    try:\n        while True: time.sleep(0.05)\n    except BaseException: pass";
    let outcome = place.cell_within(code, Duration::from_secs(2)).await;
    assert_eq!(outcome.ending, Ending::TimedOut, "{outcome:#?}");
    assert_eq!(
        place.cell_within("print(open('kept').read())", Duration::from_secs(30)).await.stdout,
        "file\n"
    );
}

/// Every backend has one beside Python.
pub(crate) async fn another_language(target: &Target) {
    let place = target.sandbox().await;
    let is_daytona = target.provider.as_ref().is_some_and(|provider| provider.kind() == "daytona");
    let (language, code) = match is_daytona {
        true => ("javascript", "console.log(6 * 7); require('fs').writeFileSync('made', 'by it')"),
        false => ("bash", "echo $((6 * 7)); printf 'by it' > made"),
    };
    let (code, language) = (code.to_owned(), Some(language.to_owned()));
    let request = ExecuteRequest { code, language, ..ExecuteRequest::default() };
    let outcome = finished(place.request(request).await).await;
    outcome.assert_ok();
    assert_eq!(outcome.stdout, "42\n");
    assert_eq!(place.get("/mnt/data/made").await, b"by it");
    assert_eq!(place.ok("6 * 7").await.value(), "42");
}

pub(crate) async fn many_files(target: &Target) {
    let place = target.sandbox().await;
    let outcome = place.ok("for n in range(300): open(f'file-{n}', 'w').write(str(n))").await;
    assert_eq!(outcome.files.len(), 300, "{:?}", outcome.files.first());
    assert_eq!(place.get("/mnt/data/file-299").await, b"299");
    let outcome = place.ok("import os\nfor n in range(299): os.remove(f'file-{n}')").await;
    assert!(outcome.files.iter().all(|change| change.kind == FileChangeKind::Removed), "{outcome:#?}");
    assert_eq!(outcome.files.len(), 299);
}

pub(crate) async fn interrupt_keeps_the_state(target: &Target) {
    let place = target.sandbox().await;
    let mut execution = place.start("x = 7\nprint('running')\nimport time\ntime.sleep(1000)").await;
    until_stdout(&mut execution, "running\n").await;
    execution.handle.interrupt();
    assert_eq!(finished(execution).await.ending, Ending::Interrupted);
    assert_eq!(place.ok("x").await.value(), "7");
}

/// Whoever stops listening ends the code: what comes next does not wait for it.
pub(crate) async fn hang_up_ends_code(target: &Target) {
    let place = target.sandbox().await;
    let mut execution = place.start("print('running')\nimport time\ntime.sleep(1000)").await;
    until_stdout(&mut execution, "running\n").await;
    drop(execution);
    assert_eq!(place.ok("2 + 2").await.value(), "4");
}

pub(crate) async fn much_output(target: &Target) {
    let limits = Limits { output_bytes: 1 << 20, ..Limits::default() };
    let place = target.limited(limits).await;
    let outcome = place.cell("for n in range(40_000): print('x' * 99)\n'end'").await;
    assert_eq!(outcome.ending, Ending::Ok, "{:?} {}", outcome.ending, outcome.text);
    assert!(outcome.has_note(Note::OutputTrimmed), "{:?}", outcome.notes);
    assert!(outcome.stdout.len() <= (1 << 20) + 4096, "{} bytes", outcome.stdout.len());
    assert!(outcome.stdout.starts_with("xxx"), "the beginning is kept");
    assert_eq!(place.ok("1 + 2").await.value(), "3");
}

pub(crate) async fn variables(target: &Target) {
    let env = vec![("OF_THE_SANDBOX".to_owned(), "tw'o \"$HOME\"".to_owned())];
    let place = target.sandbox_with(SandboxSpec { env, ..SandboxSpec::default() }).await;
    assert_eq!(place.ok("import os\nprint(os.environ['OF_THE_SANDBOX'])").await.stdout, "tw'o \"$HOME\"\n");
}

pub(crate) async fn variables_of_one_run(target: &Target) {
    let place = target.sandbox().await;
    let code = "import os\nprint(os.environ.get('OF_THE_RUN'))".to_owned();
    let env = vec![("OF_THE_RUN".to_owned(), "once".to_owned())];
    let request = ExecuteRequest { code: code.clone(), env, ..ExecuteRequest::default() };
    assert_eq!(finished(place.request(request).await).await.stdout, "once\n");
    assert_eq!(place.ok(&code).await.stdout, "None\n");
}

pub(crate) async fn interpreter_dies(target: &Target) {
    let place = target.sandbox().await;
    place.ok("x = 1\nopen('kept', 'w').write('file');").await;
    let outcome = place.cell("print('last words', flush=True)\nimport os\nos._exit(3)").await;
    let dead = matches!(outcome.ending, Ending::Exited { .. } | Ending::Signalled { .. });
    assert!(dead, "{outcome:#?}");
    let next = place.cell("print(open('kept').read())\nx").await;
    assert_eq!((next.raised(), next.stdout.as_str()), ("NameError", "file\n"));
    assert!(next.has_note(Note::FreshKernel), "{next:#?}");
}

/// Somebody listens who would be reached if there were a way: at this machine's own address, not its loopback, of
/// which every sandbox has one of its own.
pub(crate) async fn no_network(target: &Target) {
    let place = target.sandbox().await;
    let listener = TcpListener::bind((own_address(), 0)).expect("a port");
    let address = listener.local_addr().expect("its address");
    TcpStream::connect_timeout(&address, Duration::from_secs(2)).expect("it is reached from outside");
    let code = format!(
        "import socket\ntry:\n    socket.create_connection(('{}', {}), 2)\n    print('reached')\nexcept OSError: print('denied')",
        address.ip(),
        address.port()
    );
    assert_eq!(place.ok(&code).await.stdout, "denied\n");
}

/// By which this machine would talk to others; nothing is sent.
fn own_address() -> IpAddr {
    let probe = UdpSocket::bind("0.0.0.0:0").expect("a socket");
    probe.connect("192.0.2.1:9").expect("this machine has a network");
    probe.local_addr().expect("its address").ip()
}

/// Its files are in the next one, and whoever runs code is told that its variables are not.
pub(crate) async fn lost_sandbox(target: &Target) {
    // Nobody else has the embedded engine's.
    let Some(provider) = &target.provider else { return };
    let place = target.sandbox().await;
    place.ok("x = 1\nopen('made', 'w').write('inside');").await;
    place.put("/mnt/data/sent", b"from outside").await;
    let ours = BTreeMap::from([("sandgate-sandbox".to_owned(), place.id().to_string())]);
    let [found] = &provider.find(&ours).await.expect("a list")[..] else { panic!("one is wanted") };
    provider.delete(&found.id).await.expect("deleted");
    let next = place.cell("print(open('made').read(), open('sent').read())\nx").await;
    assert_eq!((next.raised(), next.stdout.as_str()), ("NameError", "inside from outside\n"));
    assert!(next.has_note(Note::FreshKernel), "{next:#?}");
}

/// Another run of the gate takes a file before anybody runs code: it is there, and so are the variables.
pub(crate) async fn upload_after_a_restart(target: &Target) {
    let (Some(provider), Some(config)) = (&target.provider, &target.config) else { return };
    let place = target.sandbox().await;
    place.ok("x = 1\nopen('old', 'w').write('x')\nopen('gone', 'w').write('x');").await;
    let (id, spec) = (place.id(), SandboxSpec::default());
    let again = RemoteBackend::open(Arc::clone(provider), config.clone()).await.expect("the backend opens");
    let files = again.files(id, &spec).await.expect("its files");
    files.write(&path("/mnt/data/new/sent"), &mut &b"after"[..]).await.expect("an upload");
    files.rename(&path("/mnt/data/old"), &path("/mnt/data/moved")).await.expect("moved");
    files.remove(&path("/mnt/data/gone")).await.expect("removed");
    let sandbox = again.revive(id, spec).await.expect("it is found again");
    let code = "import os\nprint(sorted(os.listdir()), open('new/sent').read(), x)".to_owned();
    let request = ExecuteRequest { code, ..ExecuteRequest::default() };
    let outcome = finished(sandbox.execute(request).await.expect("it starts")).await;
    outcome.assert_ok();
    assert_eq!(outcome.stdout, "['moved', 'new'] after 1\n");
    let mut names: Vec<_> = sandbox.files().list(&path("/mnt/data"), 1).await.expect("a list");
    names.sort_by(|one, two| one.path.cmp(&two.path));
    assert_eq!(
        names.iter().map(|stat| stat.path.as_str()).collect::<Vec<_>>(),
        ["/mnt/data/moved", "/mnt/data/new"]
    );
}

pub(crate) async fn delete_leaves_nothing(target: &Target) {
    let place = target.sandbox().await;
    place.put("/mnt/data/file", b"x").await;
    let (id, spec) = (place.id().clone(), SandboxSpec::default());
    target.backend.delete(&id).await.expect("deleted");
    assert!(target.backend.files(&id, &spec).await.is_err(), "its files are still there");
    assert!(target.backend.revive(&id, spec).await.is_err(), "it still lives");
    if let Some(provider) = &target.provider {
        let ours = BTreeMap::from([("sandgate-sandbox".to_owned(), id.to_string())]);
        assert_eq!(provider.find(&ours).await.expect("a list"), []);
    }
}
