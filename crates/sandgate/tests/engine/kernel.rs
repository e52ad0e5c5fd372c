//! What a person sees of the interpreter: state, output in true order, values, pictures, errors, magics.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sandgate_core::{Event, MimeBundle, Note, random_hex};
use serde_json::json;

use crate::common::{Read, engine, finished, home, next_stdout, run, sandbox, system, wait_until};

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";
const JPEG: &[u8] = b"\xff\xd8\xff";

#[test]
fn state_lives_across_executions() {
    run(async {
        let place = sandbox().await;
        place.ok("import math\nx = 40\ndef add(n):\n    return x + n").await;
        let second = place.ok("x += 1\nadd(1), math.floor(2.5)").await;
        assert_eq!(second.value(), "(42, 2)");
        assert_eq!(second.execution_count, 2);
        assert!(second.notes.is_empty() && second.files.is_empty(), "{second:?}");
    });
}

#[test]
fn only_the_last_expression_has_a_value() {
    run(async {
        let place = sandbox().await;
        let outcome = place.ok("1\n'two'\n[3]").await;
        assert_eq!(outcome.results.len(), 1);
        assert_eq!(outcome.value(), "[3]");
        assert_eq!(place.value("_").await, "[3]");
        for silent in ["x = 1", "None", "5;", "# nothing", ""] {
            assert!(place.ok(silent).await.outputs.is_empty(), "{silent:?}");
        }
    });
}

/// Each output as one word, so that an order is easy to read.
fn in_words(outputs: &[Event]) -> Vec<String> {
    let word = |output: &Event| match output {
        Event::Stdout { text } => format!("out {text}"),
        Event::Stderr { text } => format!("err {text}"),
        Event::Display { data } => format!("display {}", data["text/plain"]),
        Event::Result { data, .. } => format!("value {}", data["text/plain"]),
        other => format!("{other:?}"),
    };
    outputs.iter().map(word).collect()
}

#[test]
fn output_comes_in_the_order_it_was_made() {
    let code = "
import os, subprocess, sys, ctypes
print(1)
os.system('echo 2')
print(3, file=sys.stderr)
subprocess.run(['sh', '-c', 'echo 4'])
os.system('echo 5 >&2')
display(6)
os.write(1, b'7\\n')
print(8)
ctypes.CDLL(None).puts(b'9')
print(10, end=' ')
!echo eleven
display(11)
12";
    let expected = [
        "out 1\n2\n",
        "err 3\n",
        "out 4\n",
        "err 5\n",
        "display \"6\"",
        "out 7\n8\n9\n10 eleven\n",
        "display \"11\"",
        "value \"12\"",
    ];
    run(async {
        let place = sandbox().await;
        // The order must not depend on luck.
        for _ in 0..20 {
            assert_eq!(in_words(&place.ok(code).await.outputs), expected);
        }
    });
}

#[test]
fn output_streams_while_the_code_runs() {
    run(async {
        let place = sandbox().await;
        let code = "import os, time\nprint('started')\nwhile not os.path.exists('go'):\n    time.sleep(0.01)";
        let mut execution = place.start(code).await;
        assert_eq!(next_stdout(&mut execution).await, "started\n");
        place.put("go", b"").await;
        finished(execution).await.assert_ok();
    });
}

#[test]
fn bytes_that_are_no_text_do_no_harm() {
    run(async {
        let place = sandbox().await;
        let outcome = place
            .ok("import os\nos.write(1, b'a\\xffb\\xc3')\nos.write(1, b'\\xa9\\x00')\nprint('\\ud800')")
            .await;
        assert!(outcome.stdout.starts_with("a\u{fffd}bé\0"), "{:?}", outcome.stdout);
    });
}

#[test]
fn rich_values_have_every_form() {
    run(async {
        let place = sandbox().await;
        place.ok("from IPython.display import *").await;
        for (code, mime, expected) in [
            ("HTML('<b>x</b>')", "text/html", json!("<b>x</b>")),
            ("Markdown('*x*')", "text/markdown", json!("*x*")),
            ("Latex('$x$')", "text/latex", json!("$x$")),
            ("Math('x')", "text/latex", json!("$\\displaystyle x$")),
            ("JSON({'a': [1, None]})", "application/json", json!({"a": [1, null]})),
            (
                "SVG('<svg xmlns=\"http://www.w3.org/2000/svg\"/>')",
                "image/svg+xml",
                json!("<svg xmlns=\"http://www.w3.org/2000/svg\"/>"),
            ),
            ("Image(data=b'\\xff\\xd8\\xff', format='jpeg')", "image/jpeg", json!("/9j/")),
        ] {
            let outcome = place.ok(code).await;
            assert_eq!(outcome.shown()[mime], expected, "{code}");
            let displayed = place.ok(&format!("display({code})")).await;
            assert_eq!(displayed.shown()[mime], expected, "display({code})");
            assert!(!displayed.results[0].last_value);
        }
    });
}

#[test]
fn a_table_is_html() {
    run(async {
        let place = sandbox().await;
        let outcome = place.ok("import pandas as pd\npd.DataFrame({'a': [1, 2], 'b': ['x', None]})").await;
        let data = outcome.shown();
        assert!(data["text/html"].as_str().unwrap().contains("<table"), "{data:?}");
        assert_eq!(data.keys().collect::<Vec<_>>(), ["text/html", "text/plain"]);
    });
}

fn picture(data: &MimeBundle, mime: &str) -> Vec<u8> {
    STANDARD.decode(data[mime].as_str().expect("base64 text")).expect("base64")
}

#[test]
fn figures_are_png_where_they_are_shown() {
    run(async {
        let place = sandbox().await;
        let code = "import matplotlib.pyplot as plt\nplt.plot([1, 2], [3, 4])\nplt.title('T')\nplt.show()\nprint('after')";
        let outcome = place.ok(code).await;
        assert!(matches!(outcome.outputs[0], Event::Display { .. }), "{:?}", in_words(&outcome.outputs));
        let data = outcome.shown();
        assert!(picture(data, "image/png").starts_with(PNG));
        assert_eq!(data.keys().collect::<Vec<_>>(), ["image/png", "text/plain"]);
        // Without show(): once, at the end.
        let outcome = place.ok("fig, ax = plt.subplots()\n_ = ax.bar(['x', 'y'], [1, 2])").await;
        assert!(picture(outcome.shown(), "image/png").starts_with(PNG));
    });
}

#[test]
fn pillow_images_are_pictures() {
    run(async {
        let place = sandbox().await;
        let outcome = place.ok("from PIL import Image\nImage.new('RGB', (3, 2), 'red')").await;
        assert!(picture(outcome.shown(), "image/png").starts_with(PNG));
        let code = "import io\nfrom IPython.display import Image as Shown\nb = io.BytesIO()\nImage.new('RGB', (3, 2)).save(b, 'jpeg')\nShown(b.getvalue())";
        assert!(picture(place.ok(code).await.shown(), "image/jpeg").starts_with(JPEG));
    });
}

#[test]
fn the_data_stack_is_there() {
    run(async {
        let place = sandbox().await;
        let code = "
import numpy, pandas, matplotlib, scipy, sympy, sklearn, seaborn, PIL, openpyxl, requests, bs4
import sklearn.linear_model
model = sklearn.linear_model.LinearRegression().fit([[0], [1]], [1, 3])
float(model.predict([[2]])[0].round(6)), sympy.factorial(5), scipy.__name__";
        assert_eq!(place.value(code).await, "(5.0, 120, 'scipy')");
    });
}

#[test]
fn tracebacks_show_the_code_and_no_path_of_the_host() {
    run(async {
        let place = sandbox().await;
        place.ok("def f(n):\n    return 1 / n").await;
        let outcome = place.cell("print('before')\nf(0)").await;
        assert_eq!(outcome.raised(), "ZeroDivisionError");
        assert_eq!(outcome.stdout, "before\n");
        let error = outcome.error.as_ref().unwrap();
        assert_eq!(error.value, "division by zero");
        let text = error.traceback.join("\n");
        assert!(text.contains("return 1 / n") && text.contains("----> 2 f(0)"), "{text}");
        for code in ["import json\njson.loads('{')", "import pandas\npandas.read_csv('no')", "1 +", "%nosuch"]
        {
            let outcome = place.cell(code).await;
            outcome.raised();
            assert_no_host_path(&outcome.error.as_ref().unwrap().traceback.join("\n"));
        }
    });
}

#[track_caller]
fn assert_no_host_path(text: &str) {
    let runtimes = home().join("runtimes").canonicalize().expect("the runtimes");
    let build = env!("CARGO_MANIFEST_DIR");
    for host in [&*home().to_string_lossy(), &*runtimes.to_string_lossy(), build, "sandgate_kernel"] {
        assert!(!text.contains(host), "{host} is in: {text}");
    }
}

#[test]
fn top_level_await_works() {
    run(async {
        let place = sandbox().await;
        let code = "import asyncio\nasync def f(n):\n    await asyncio.sleep(0.01)\n    return n\nawait asyncio.gather(f(1), f(2))";
        assert_eq!(place.value(code).await, "[1, 2]");
        assert_eq!(place.value("task = asyncio.get_running_loop().create_task(f(3))\nawait task").await, "3");
    });
}

#[test]
fn shell_commands_run() {
    run(async {
        let place = sandbox().await;
        place.put("a.txt", b"").await;
        assert_eq!(place.ok("!ls; pwd").await.stdout, "a.txt\n/mnt/data\n");
        assert_eq!(place.value("names = !ls\nnames[0].upper()").await, "'A.TXT'");
        let outcome = place.ok("%%bash\nfor n in 1 2; do echo $n; done\necho oops >&2").await;
        assert_eq!((&*outcome.stdout, &*outcome.stderr), ("1\n2\n", "oops\n"));
        let failed = place.cell("%%bash\nexit 3").await;
        assert_eq!(failed.raised(), "CalledProcessError");
        assert_eq!(
            place.ok("!python3 -c 'import numpy, sys; print(sys.version_info[0])'").await.stdout,
            "3\n"
        );
    });
}

#[test]
fn timeit_measures() {
    run(async {
        let outcome = sandbox().await.ok("%timeit -n 10 -r 2 sum(range(10))").await;
        assert!(
            outcome.stdout.contains("per loop") && outcome.stdout.contains("10 loops each"),
            "{outcome:?}"
        );
    });
}

const MAKE_A_WHEEL: &str = "
import zipfile
with zipfile.ZipFile('tiny_pack-1.0-py3-none-any.whl', 'w') as wheel:
    wheel.writestr('tiny_pack.py', 'VALUE = 7')
    info = 'tiny_pack-1.0.dist-info/'
    wheel.writestr(info + 'METADATA', 'Metadata-Version: 2.1\\nName: tiny-pack\\nVersion: 1.0\\n')
    wheel.writestr(info + 'WHEEL', 'Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')
    wheel.writestr(info + 'RECORD', 'tiny_pack.py,,\\n')
";

#[test]
fn pip_installs_a_wheel_for_this_sandbox_alone() {
    run(async {
        let (place, other) = (sandbox().await, sandbox().await);
        place.ok(MAKE_A_WHEEL).await;
        assert_eq!(place.cell("import tiny_pack").await.raised(), "ModuleNotFoundError");
        let outcome = place.ok("%pip install ./tiny_pack-1.0-py3-none-any.whl").await;
        assert!(outcome.stdout.contains("Successfully installed tiny"), "{outcome:?}");
        assert_eq!(place.value("import tiny_pack\ntiny_pack.VALUE").await, "7");
        assert_eq!(place.ok("!python3 -c 'import tiny_pack; print(tiny_pack.VALUE)'").await.stdout, "7\n");
        assert_eq!(other.cell("import tiny_pack").await.raised(), "ModuleNotFoundError");
    });
}

#[test]
fn input_says_that_nobody_types() {
    run(async {
        let place = sandbox().await;
        for code in ["input('name? ')", "import getpass\ngetpass.getpass()", "import sys\nsys.stdin.read()"] {
            let outcome = place.cell(code).await;
            outcome.raised();
            let said = &outcome.error.as_ref().unwrap().value;
            assert!(said.contains("nobody can type an answer here"), "{said}");
        }
        assert_eq!(place.ok("!cat").await.stdout, "");
    });
}

#[test]
fn the_surroundings_say_nothing_of_the_host() {
    run(async {
        let place = sandbox().await;
        let code = "import os, socket\nprint(dict(os.environ), os.getcwd(), socket.gethostname(), os.uname().nodename)";
        let told = place.ok(code).await.stdout;
        assert_no_host_path(&told);
        let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
        assert!(!told.contains(&format!("'{}'", host.trim())) && told.contains("/mnt/data"), "{told}");
    });
}

#[test]
fn random_numbers_differ_between_sandboxes() {
    run(async {
        let code = "import random, uuid, numpy, os\nrandom.random(), numpy.random.rand(), uuid.uuid4().hex, os.urandom(4)";
        let (one, two) = (sandbox().await.value(code).await, sandbox().await.value(code).await);
        let parts = |text: &str| text.split(", ").map(str::to_owned).collect::<Vec<_>>();
        assert!(parts(&one).iter().zip(parts(&two)).all(|(a, b)| *a != b), "{one} {two}");
    });
}

#[test]
fn threads_and_children_end_with_the_sandbox() {
    run(async {
        let place = sandbox().await;
        let mark = format!("86399.{}", u32::from_str_radix(&random_hex(3), 16).unwrap());
        let code = format!(
            "import subprocess, threading, time
child = subprocess.Popen(['sleep', '{mark}'])
deep = subprocess.Popen(['setsid', 'sh', '-c', 'sleep {mark} & sleep {mark}'], start_new_session=True)
threading.Thread(target=time.sleep, args=(86399,)).start()"
        );
        place.ok(&code).await;
        // They outlive the execution, not the sandbox.
        wait_until("the children run", || system::with_argument(&mark).len() == 3);
        assert_eq!(place.value("child.poll(), threading.active_count() > 1").await, "(None, True)");
        place.stop().await.expect("it stops");
        assert_eq!(system::with_argument(&mark), []);
        assert_eq!(system::in_group(place.id().as_str()), []);
        assert_eq!(system::groups(place.id().as_str()), [] as [std::path::PathBuf; 0]);
    });
}

#[test]
fn a_fresh_sandbox_has_nothing_to_note() {
    run(async {
        engine().await;
        for _ in 0..6 {
            let outcome =
                sandbox().await.ok("sorted(name for name in globals() if not name.startswith('_'))").await;
            assert_eq!(outcome.value(), "['In', 'Out', 'exit', 'get_ipython', 'open', 'quit']");
            assert!(!outcome.has_note(Note::FreshKernel) && outcome.notes.is_empty());
        }
    });
}
