//! The worst that can be asked for: each gets its clear answer while a neighbour keeps answering.

use sandgate_core::{BackendError, ContextSpec, Ending, ExecuteRequest, LimitKind, Limits, Note};

use crate::common::{
    Place, Read, beside_neighbour, finished, next_stdout, run, sandbox, sandbox_with, system, until_stderr,
    wait_until,
};

/// Less memory, so that eating it takes less time.
fn small() -> Limits {
    Limits { memory_bytes: 256 << 20, ..Limits::default() }
}

async fn assert_usable(place: &Place) {
    assert_eq!(place.value("6*7").await, "42");
}

#[test]
fn ten_megabytes_of_code() {
    run(beside_neighbour(async {
        let place = sandbox().await;
        let code = "x = 1  # no end of it\n".repeat(480_000);
        let size = code.len() as u64;
        assert!(size > 10 << 20);
        let refused = place.execute(ExecuteRequest { code: code.clone(), ..ExecuteRequest::default() }).await;
        let error = refused.unwrap_err();
        assert!(matches!(error, BackendError::CodeTooLarge { .. }), "{error:?}");
        assert_eq!(error.to_string(), format!("the code is {size} bytes long; the limit is {}", 4 << 20));
        assert_usable(&place).await;
        // Where the limit allows it, it runs.
        let roomy = sandbox_with(Limits { code_bytes: 16 << 20, ..Limits::default() }).await;
        assert_eq!(
            roomy.value(&format!("s = '''{}'''\nlen(s)", "é".repeat(5 << 20))).await,
            (5 << 20).to_string()
        );
    }));
}

#[test]
fn fork_bombs() {
    run(beside_neighbour(async {
        for bomb in [
            "import os\nwhile True:\n    try:\n        os.fork()\n    except OSError as error:\n        os.write(2, str(error).encode())",
            "%%bash\nbomb() { bomb | bomb & }; bomb; while true; do bomb; done",
        ] {
            let place = sandbox_with(Limits { processes: 64, ..small() }).await;
            let mut running = place.start(bomb).await;
            until_stderr(&mut running, "Resource temporarily unavailable").await;
            running.handle.interrupt();
            let outcome = finished(running).await;
            assert_eq!(outcome.ending, Ending::Interrupted, "{bomb}");
            assert!(outcome.note(Note::ProcessesRefused).contains("the limit of 64"), "{outcome:?}");
            assert!(place.usage().await.unwrap().processes <= 64);
            let id = place.id().clone();
            place.stop().await.unwrap();
            assert_eq!(system::in_group(id.as_str()), [], "nothing of it is left");
        }
    }));
}

#[test]
fn killing_process_1() {
    run(beside_neighbour(async {
        let place = sandbox().await;
        place.ok("import os, signal\nx = 1").await;
        for code in ["os.kill(1, 9)", "os.kill(1, signal.SIGTERM)", "os.kill(1, signal.SIGSTOP)"] {
            assert_eq!(place.cell(code).await.raised(), "PermissionError", "{code}");
        }
        // Everything it may kill: itself is spared by this call.
        let outcome = place.cell("os.kill(-1, 9)").await;
        assert!(matches!(outcome.ending, Ending::Ok | Ending::Raised), "{outcome:?}");
        assert_eq!(place.value("x").await, "1");
    }));
}

#[test]
fn a_hundred_gigabytes_allocated() {
    run(beside_neighbour(async {
        let place = sandbox_with(small()).await;
        for code in [
            "b'x' * (100 << 30)",
            "bytearray(100 << 30)",
            "import numpy\nnumpy.ones((100 << 30) // 8)",
            "[0] * (100 << 30)",
        ] {
            let outcome = place.cell(code).await;
            match outcome.ending {
                Ending::Raised => assert!(outcome.raised().contains("MemoryError"), "{code} {outcome:?}"),
                ending => assert_eq!(ending, Ending::LimitHit { limit: LimitKind::Memory }, "{code}"),
            }
            assert_usable(&place).await;
        }
    }));
}

#[test]
fn deep_recursion() {
    run(beside_neighbour(async {
        let place = sandbox_with(small()).await;
        assert_eq!(place.cell("def f(n):\n    return f(n + 1)\nf(0)").await.raised(), "RecursionError");
        assert_eq!(
            place.cell("x = 'x'\nfor _ in range(10**5):\n    x = [x]\nrepr(x)").await.raised(),
            "RecursionError"
        );
        assert_usable(&place).await;
        let outcome = place.cell("import sys\nsys.setrecursionlimit(10**9)\nf(0)").await;
        let ended = matches!(
            outcome.ending,
            Ending::Raised | Ending::Signalled { signal: 11 } | Ending::LimitHit { limit: LimitKind::Memory }
        );
        assert!(ended, "{outcome:?}");
        assert_usable(&place).await;
        // Too deep for the parser.
        place.cell(&"(".repeat(100_000)).await.raised();
        place.cell(&format!("{}1{}", "[".repeat(150), "]".repeat(150))).await;
        place.cell(&format!("x{}", ".a".repeat(200_000))).await;
        assert_usable(&place).await;
    }));
}

#[test]
fn interrupts_ignored_in_every_way() {
    run(beside_neighbour(async {
        let place = sandbox().await;
        for code in [
            "import signal\nsignal.signal(signal.SIGINT, lambda *_: None)\nwhile True:\n    pass",
            "import time\nwhile True:\n    try:\n        time.sleep(1000)\n    except BaseException:\n        pass",
            "import signal\nsignal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))\nwhile True:\n    pass",
            "import re\nre.match('(a+)+$', 'a' * 60 + 'b')",
        ] {
            let outcome = place.cell_within(code, 0.3).await;
            assert_eq!(outcome.ending, Ending::TimedOut, "{code}");
            assert!(outcome.text.contains("the time limit of 0.3 seconds"), "{}", outcome.text);
            assert_usable(&place).await;
        }
    }));
}

#[test]
fn a_thousand_contexts() {
    run(beside_neighbour(async {
        let place = sandbox().await;
        let (mut made, mut refused) = (Vec::new(), Vec::new());
        for _ in 0..1000 {
            match place.create_context(ContextSpec::default()).await {
                Ok(info) => made.push(info.id),
                Err(error) => refused.push(error.to_string()),
            }
        }
        let limit = Limits::default().contexts as usize;
        assert!(made.len() == limit || made.len() == limit - 1, "{}", made.len());
        assert_eq!(made.len() + refused.len(), 1000);
        assert!(
            refused
                .iter()
                .all(|text| text == "this container has 32 contexts, which is its limit; delete one first"),
            "{refused:?}"
        );
        // All that were made work, and each is its own.
        for (n, id) in made.iter().enumerate() {
            assert_eq!(place.in_context(id, &format!("x = {n}\nx")).await.value(), n.to_string());
        }
        assert_eq!(place.in_context(&made[0], "x").await.value(), "0");
    }));
}

#[test]
fn an_endless_print() {
    run(beside_neighbour(async {
        let place = sandbox().await;
        let outcome = place.cell("while True:\n    print('all work and no play ' * 100)").await;
        assert_eq!(outcome.ending, Ending::LimitHit { limit: LimitKind::Output });
        assert!(outcome.text.contains("the output limit of 10 MiB"), "{}", outcome.text);
        assert_usable(&place).await;
    }));
}

#[test]
fn twenty_gigabytes_to_disk() {
    run(beside_neighbour(async {
        let place = sandbox_with(Limits { disk_bytes: 128 << 20, ..small() }).await;
        let outcome = place.cell("import os\nfor n in range(200):\n    with open(f'f{n}', 'wb') as f:\n        for _ in range(100):\n            f.write(bytes(1 << 20))").await;
        assert_eq!(outcome.ending, Ending::LimitHit { limit: LimitKind::Disk }, "{}", outcome.text);
        assert!(outcome.text.contains("the disk limit of 128 MiB"), "{}", outcome.text);
        assert!(place.usage().await.unwrap().disk_bytes < 8 << 30);
        assert_usable(&place).await;
        // A file that only claims to be large takes nothing.
        let sparse = place.cell("import glob, os\nfor f in glob.glob('f*'):\n    os.remove(f)\nos.truncate(os.open('sparse', os.O_CREAT | os.O_RDWR), 20 << 30)").await;
        assert_eq!(sparse.raised(), "OSError");
    }));
}

#[test]
fn a_kernel_that_speaks_out_of_turn_is_ended() {
    run(beside_neighbour(async {
        let place = sandbox().await;
        let find = "import os, socket\ncontrol = [fd for fd in range(3, 1000) if os.path.exists(f'/proc/self/fd/{fd}') and os.readlink(f'/proc/self/fd/{fd}').startswith('socket:')]\n";
        for mischief in [
            "os.write(control[0], b'\\xff' * 100)",
            "os.write(control[0], b'\\x05\\x00\\x00\\x00\\x84nope')",
            "os.write(control[0], b'\\x01\\x00\\x00\\x00\\x80')",
            "os.close(control[0])",
            "os.closerange(3, 1000)",
        ] {
            let outcome = place.cell_within(&format!("{find}{mischief}\nwhile True:\n    pass"), 20.0).await;
            assert!(!matches!(outcome.ending, Ending::Ok | Ending::TimedOut), "{mischief}: {outcome:?}");
            let next = place.ok("6*7").await;
            assert_eq!(
                (next.value(), next.has_note(Note::FreshKernel)),
                ("42".to_owned(), true),
                "{mischief}"
            );
        }
        // The loops above are gone: PID 1 and the interpreter are all there is.
        let count = async || place.usage().await.unwrap().processes;
        assert!(count().await <= 2, "{}", count().await);
    }));
}

#[test]
fn a_forged_end_does_not_confuse_the_next_execution() {
    run(async {
        let place = sandbox().await;
        let code = "
import json, os, struct
control = next(fd for fd in range(3, 1000) if os.path.exists(f'/proc/self/fd/{fd}') and os.readlink(f'/proc/self/fd/{fd}').startswith('socket:'))
body = b'\\x86' + json.dumps({'execution_count': 7, 'status': 'ok'}).encode()
os.write(control, struct.pack('<I', len(body)) + body)
print('after the end')";
        place.cell(code).await;
        // It cheats itself at most: answers may shift, but only within this context.
        let other = place.context("other").await;
        assert_eq!(place.in_context(&other, "6*7").await.value(), "42");
        assert_eq!(sandbox().await.value("6*7").await, "42");
    });
}

#[test]
fn a_sandbox_that_ends_in_the_middle_says_so() {
    run(async {
        let place = sandbox().await;
        let mut running = place.start("print('running')\nwhile True:\n    pass").await;
        next_stdout(&mut running).await;
        let queued = place.start("1").await;
        place.stop().await.unwrap();
        for execution in [running, queued] {
            let outcome = finished(execution).await;
            assert!(!matches!(outcome.ending, Ending::Ok | Ending::Raised), "{outcome:?}");
        }
        let refused = place.execute(ExecuteRequest::default()).await;
        assert!(matches!(refused, Err(BackendError::NoSuchSandbox(_))));
        wait_until("its groups are gone", || system::groups(place.id().as_str()).is_empty());
    });
}
