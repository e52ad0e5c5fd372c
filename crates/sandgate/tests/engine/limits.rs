//! Every limit: it is kept, it says its name and value, it costs that execution only, and a neighbour
//! never notices.

use std::time::Duration;

use sandgate_core::{Ending, LimitKind, Limits, Note, human_bytes};

use crate::common::{Read, beside_neighbour, path, run, sandbox_with};

const MIB: u64 = 1 << 20;

fn small() -> Limits {
    Limits { memory_bytes: 256 * MIB, disk_bytes: 64 * MIB, processes: 32, ..Limits::default() }
}

#[test]
fn memory() {
    run(beside_neighbour(async {
        let place = sandbox_with(small()).await;
        let outcome =
            place.cell("hoard = []\nwhile True:\n    hoard.append(bytearray(b'x') * (1 << 20))").await;
        assert_eq!(outcome.ending, Ending::LimitHit { limit: LimitKind::Memory }, "{outcome:?}");
        assert!(outcome.text.contains("the memory limit of 256 MiB was reached"), "{}", outcome.text);
        let usage = place.usage().await.unwrap();
        assert!(usage.memory_peak_bytes <= 256 * MIB && usage.memory_peak_bytes > 200 * MIB, "{usage:?}");
        // What fits, fits.
        assert_eq!(place.value("len(bytearray(b'x') * (100 << 20))").await, "104857600");
    }));
}

#[test]
fn memory_of_a_child() {
    run(beside_neighbour(async {
        let place = sandbox_with(small()).await;
        let code = "x = 1\nimport subprocess, sys\nsubprocess.run([sys.executable, '-c', \"hoard = []\\nwhile True: hoard.append(bytearray(b'x') * (1 << 20))\"]).returncode";
        let outcome = place.ok(code).await;
        assert_eq!(outcome.value(), "-9");
        assert!(outcome.note(Note::ChildKilledForMemory).contains("memory limit of 256 MiB"), "{outcome:?}");
        let next = place.ok("x").await;
        assert_eq!(next.value(), "1", "the interpreter lived on");
        assert!(next.notes.is_empty(), "said once: {next:?}");
    }));
}

#[test]
fn private_tmp() {
    run(async {
        let place = sandbox_with(Limits { tmp_bytes: 16 * MIB, ..small() }).await;
        let outcome = place
            .cell(
                "with open('/tmp/big', 'wb') as f:\n    for _ in range(64):\n        f.write(bytes(1 << 20))",
            )
            .await;
        assert_eq!(outcome.raised(), "OSError");
        assert!(outcome.error.as_ref().unwrap().value.contains("No space left"), "{outcome:?}");
        assert_eq!(place.value("import os\nos.path.getsize('/tmp/big') <= 16 << 20").await, "True");
    });
}

#[test]
fn processes() {
    run(beside_neighbour(async {
        let place = sandbox_with(small()).await;
        let outcome = place.cell("import subprocess\nx = 1\nchildren = []\nwhile True:\n    children.append(subprocess.Popen(['sleep', '1000']))").await;
        assert_eq!(outcome.raised(), "BlockingIOError");
        assert!(outcome.note(Note::ProcessesRefused).contains("the limit of 32 was reached"), "{outcome:?}");
        let next = place
            .ok("count = len(children)\nfor child in children:\n    child.kill()\n    child.wait()\ncount, x")
            .await;
        let count: usize = next.value().trim_matches(['(', ')']).split(',').next().unwrap().parse().unwrap();
        assert!((20..32).contains(&count), "{count}");
        assert_eq!(place.ok("!echo room again").await.stdout, "room again\n");
    }));
}

#[test]
fn threads_count_as_processes() {
    run(async {
        let place = sandbox_with(small()).await;
        let code = "import threading\nstop = threading.Event()\ncount = 0\ntry:\n    while count < 1000:\n        threading.Thread(target=stop.wait, daemon=True).start()\n        count += 1\nexcept RuntimeError as error:\n    print(error)\nstop.set()\ncount < 32";
        let outcome = place.ok(code).await;
        assert_eq!((outcome.value(), &*outcome.stdout), ("True".to_owned(), "can't start new thread\n"));
        assert!(outcome.note(Note::ProcessesRefused).contains("32"));
    });
}

#[test]
fn processor_time() {
    run(beside_neighbour(async {
        let place = sandbox_with(Limits { cpu_millis: 200, ..small() }).await;
        let code = "
import os, time
children = [os.fork() for _ in range(2)]
begin, used = time.monotonic(), os.times()
while time.monotonic() - begin < 2:
    pass
now = os.times()
(now.user + now.system - used.user - used.system) / (time.monotonic() - begin)";
        let share: f64 = place.value(code).await.parse().unwrap();
        // Three or more processes share a fifth of one processor.
        assert!(share < 0.35, "{share}");
    }));
}

#[test]
fn wall_time() {
    run(beside_neighbour(async {
        let place = sandbox_with(Limits { wall: Duration::from_secs(1), ..small() }).await;
        let outcome = place.cell("while True:\n    pass").await;
        assert_eq!(outcome.ending, Ending::TimedOut);
        assert!(outcome.text.contains("the time limit of 1 seconds was reached"), "{}", outcome.text);
        assert!((900.0..60_000.0).contains(&outcome.duration_ms), "{}", outcome.duration_ms);
    }));
}

#[test]
fn output_is_trimmed_and_the_code_goes_on() {
    run(async {
        let place = sandbox_with(Limits { output_bytes: 10_000, ..small() }).await;
        let outcome = place.ok("import os, sys\nprint('é' * 10_000)\nos.write(2, b'e' * 5000)\nx = 1").await;
        assert_eq!(outcome.stdout.len() + outcome.stderr.len(), 10_000);
        assert!(outcome.stdout.chars().all(|c| c == 'é'), "cut between characters");
        let note = outcome.note(Note::OutputTrimmed);
        assert!(note.contains(&format!("the output limit of {}", human_bytes(10_000))), "{note}");
        assert!(note.contains("15001 bytes after it were dropped"), "{note}");
        // Rich values count too, and errors are still told.
        let outcome = place.ok("from IPython.display import HTML\nHTML('x' * 20_000)").await;
        assert!(outcome.results.is_empty() && outcome.has_note(Note::OutputTrimmed), "{outcome:?}");
        assert_eq!(place.cell("print('x' * 20_000)\n1/0").await.raised(), "ZeroDivisionError");
        let next = place.ok("x").await;
        assert_eq!(next.value(), "1");
        assert!(next.notes.is_empty(), "the limit is for each execution: {next:?}");
    });
}

#[test]
fn endless_output_is_ended() {
    run(beside_neighbour(async {
        let place = sandbox_with(Limits { output_bytes: MIB, ..small() }).await;
        for code in
            ["x = 1\nwhile True:\n    print('x' * 1000)", "!yes", "while True:\n    display('x' * 1000)"]
        {
            let outcome = place.cell(code).await;
            assert_eq!(
                outcome.ending,
                Ending::LimitHit { limit: LimitKind::Output },
                "{code} {}",
                outcome.text
            );
            assert!(outcome.text.contains("output limit of 1 MiB"), "{}", outcome.text);
            assert!(outcome.stdout.len() as u64 <= MIB);
            assert!(outcome.has_note(Note::OutputTrimmed));
            assert_eq!(place.value("x").await, "1", "it was interrupted, not killed");
        }
    }));
}

#[test]
fn open_files() {
    run(async {
        let place = sandbox_with(Limits { open_files: 64, ..small() }).await;
        let outcome = place.cell("held = []\nwhile True:\n    held.append(open('/dev/null'))").await;
        assert_eq!(outcome.raised(), "OSError");
        assert!(outcome.error.as_ref().unwrap().value.contains("Too many open files"), "{outcome:?}");
        assert_eq!(place.value("30 < len(held) < 64").await, "True");
        assert_eq!(place.value("held.clear()\nopen('/dev/null').read()").await, "''");
    });
}

#[test]
fn disk_in_one_file() {
    run(beside_neighbour(async {
        let place = sandbox_with(small()).await;
        let outcome = place.cell("x = 1\nwith open('big', 'wb', buffering=0) as f:\n    for _ in range(20 << 10):\n        f.write(bytes(1 << 20))").await;
        assert_eq!(outcome.raised(), "OSError");
        assert!(outcome.error.as_ref().unwrap().value.contains("File too large"), "{outcome:?}");
        assert!(place.files().stat(&path("big")).await.unwrap().size <= 64 * MIB);
        assert_eq!(place.value("x").await, "1");
    }));
}

const MANY_FILES: &str = "
import os
x = 1
for n in range(20 << 10):
    with open(f'f{n}', 'wb') as f:
        f.write(os.urandom(1 << 20))";

#[test]
fn disk_in_many_files() {
    run(beside_neighbour(async {
        let place = sandbox_with(small()).await;
        let outcome = place.cell(MANY_FILES).await;
        assert_eq!(outcome.ending, Ending::LimitHit { limit: LimitKind::Disk }, "{}", outcome.text);
        assert!(outcome.text.contains("the disk limit of 64 MiB"), "{}", outcome.text);
        // It is watched, not counted: what is written between two looks is over, but not by much.
        let used = place.usage().await.unwrap().disk_bytes;
        assert!(used > 64 * MIB && used < 4096 * MIB, "{}", human_bytes(used));
        // There is a way on: make room.
        let freed = place.ok("import glob, os\nfor f in glob.glob('f*'):\n    os.remove(f)").await;
        assert!(freed.has_note(Note::FreshKernel), "{freed:?}");
        place.ok("open('small', 'wb').write(bytes(1 << 20));").await;
    }));
}

#[test]
fn disk_in_many_small_files() {
    run(beside_neighbour(async {
        let place = sandbox_with(Limits { disk_entries: 500, ..small() }).await;
        let outcome = place.cell("import os\nn = 0\nwhile True:\n    os.mkdir(f'd{n}')\n    open(f'd{n}/f', 'w').close()\n    n += 1").await;
        assert_eq!(outcome.ending, Ending::LimitHit { limit: LimitKind::Disk }, "{}", outcome.text);
        assert!(outcome.text.contains("500 files"), "{}", outcome.text);
    }));
}

#[test]
fn disk_in_the_home_folder_counts_too() {
    run(async {
        let place = sandbox_with(small()).await;
        let outcome = place.cell(&format!("import os\nos.chdir('/home/user')\n{MANY_FILES}")).await;
        assert_eq!(outcome.ending, Ending::LimitHit { limit: LimitKind::Disk }, "{}", outcome.text);
    });
}

#[test]
fn disk_in_removed_files_that_are_held_open_or_mapped() {
    let code = |hold: &str| {
        format!(
            "
import ctypes, os, time
libc, held = ctypes.CDLL(None), []
for n in range(40):
    with open('gone', 'w+b') as f:
        os.remove('gone')
        f.write(os.urandom(4 << 20))
        f.flush()
        held.append({hold})
time.sleep(40)"
        )
    };
    run(async {
        for hold in ["os.dup(f.fileno())", "libc.mmap(None, 4096, 1, 1, f.fileno(), 0)"] {
            let place = sandbox_with(small()).await;
            let outcome = place.cell(&code(hold)).await;
            assert_eq!(outcome.ending, Ending::LimitHit { limit: LimitKind::Disk }, "{hold}: {outcome:?}");
        }
    });
}
