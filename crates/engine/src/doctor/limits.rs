//! Limits, each hit on purpose in a sandbox of its own.

use std::sync::Arc;
use std::time::Duration;

use sandgate_core::{Backend, Ending, ExecuteRequest, LimitKind, Limits, Note, Outcome, Result, SandboxSpec};

use super::Check;
use crate::LimitsBy;

const GROUP: &str = "limits";

/// One limit: how it is set, the code that runs into it, and how one sees that it held.
struct Trial {
    name: &'static str,
    set: fn(&mut Limits),
    code: &'static str,
    held: fn(&Outcome) -> bool,
    /// Only a control group keeps it.
    by_group: bool,
}

const TRIALS: [Trial; 7] = [
    Trial {
        name: "memory",
        set: |limits| limits.memory_bytes = 128 << 20,
        code: "x = bytearray(400 << 20)\nfor i in range(0, len(x), 4096): x[i] = 1",
        held: |outcome| outcome.ending == Ending::LimitHit { limit: LimitKind::Memory },
        by_group: true,
    },
    Trial {
        name: "processes",
        set: |limits| limits.processes = 16,
        code: "import subprocess\nall = [subprocess.Popen(['sleep', '5']) for _ in range(40)]",
        held: |outcome| outcome.notes.iter().any(|note| note.note == Note::ProcessesRefused),
        by_group: true,
    },
    Trial {
        name: "processor",
        set: |limits| limits.cpu_millis = 250,
        code: "import time\nwall = time.monotonic()\nwhile time.monotonic() - wall < 1: pass\nprint(time.process_time_ns() // 10**6 < 600)",
        held: |outcome| outcome.stdout.trim() == "True",
        by_group: true,
    },
    Trial {
        name: "wall time",
        set: |limits| limits.wall = Duration::from_millis(300),
        code: "while True: pass",
        held: |outcome| outcome.ending == Ending::TimedOut,
        by_group: false,
    },
    Trial {
        name: "output",
        set: |limits| limits.output_bytes = 1000,
        code: "print('x' * 5000)",
        held: |outcome| {
            outcome.stdout.len() == 1000 && outcome.notes.iter().any(|note| note.note == Note::OutputTrimmed)
        },
        by_group: false,
    },
    Trial {
        name: "open files",
        set: |limits| limits.open_files = 64,
        code: "all = [open('/dev/null') for _ in range(200)]",
        held: |outcome| {
            outcome.error.as_ref().is_some_and(|error| error.value.contains("Too many open files"))
        },
        by_group: false,
    },
    Trial {
        name: "disk",
        set: |limits| limits.disk_bytes = 1 << 20,
        code: "open('big', 'wb').write(b'x' * (8 << 20))",
        held: |outcome| outcome.error.as_ref().is_some_and(|error| error.value.contains("File too large")),
        by_group: false,
    },
];

pub(super) async fn checks(backend: &Arc<dyn Backend>, limits_by: LimitsBy) -> Vec<Check> {
    let mut checks = Vec::new();
    for trial in &TRIALS {
        if trial.by_group && limits_by == LimitsBy::Rlimits {
            checks.push(Check::off(
                GROUP,
                trial.name,
                "needs control groups; weaker limits per process were asked for",
            ));
            continue;
        }
        checks.push(match hit(backend, trial).await {
            Ok(outcome) if (trial.held)(&outcome) => {
                Check::on(GROUP, trial.name, "was hit, held, and said so")
            }
            Ok(outcome) => {
                let error = outcome.error.map(|error| error.value).unwrap_or_default();
                Check::missing(GROUP, trial.name, format!("did not hold: {} {error}", outcome.text), "")
            }
            Err(error) => Check::missing(GROUP, trial.name, error.to_string(), ""),
        });
    }
    checks
}

async fn hit(backend: &Arc<dyn Backend>, trial: &Trial) -> Result<Outcome> {
    let mut spec = SandboxSpec::default();
    (trial.set)(&mut spec.limits);
    let sandbox = backend.create(spec).await?;
    let request = ExecuteRequest { code: trial.code.to_owned(), ..ExecuteRequest::default() };
    let outcome = Outcome::collect(sandbox.execute(request).await?).await;
    backend.delete(sandbox.id()).await?;
    outcome
}
