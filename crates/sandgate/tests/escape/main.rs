//! Attempts to get out of a sandbox: each must be blocked for its own reason, must work where there is no
//! sandbox, and must get through again when the layer that blocks it is taken away. See `attempts/README.md`.

mod attempt;
mod control;
mod layers_off;
mod sandboxed;
mod stage;
mod table;

use std::net::TcpListener;
use std::sync::{Mutex, PoisonError};

use anyhow::{Result, ensure};
use sandgate_engine::{Layers, LimitsBy};

use attempt::{Attempt, Verdict};
use layers_off::Running;
use sandboxed::Server;
use stage::{Aims, Stage};
use table::Table;

/// How many attempts there are at least: fewer means that they were not found.
const AT_LEAST: usize = 200;
/// Of the attempts that a missing layer is nothing to, every so many-th is tried as well.
const SAMPLE: usize = 8;

/// The tests take turns: each uses all processors, and some attempts fill memory.
static TURN: Mutex<()> = Mutex::new(());

#[test]
fn every_attempt_is_blocked_for_the_right_reason() -> Result<()> {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let (stage, attempts) = (Stage::set_up()?, attempt::all()?);
    let server = Server::start(&stage)?;
    server.check_bait(&stage)?;
    let aims = Aims { inside: true, server_port: server.address.port(), neighbour: server.neighbour()? };
    let mut table = Table::new("sandboxed");
    table.fill(&attempts, |attempt| server.run(&stage.program(attempt, &aims)?), must_be_blocked);
    ensure!(stage.is_clean()?, "an attempt left something on the host");
    table.assert_nothing_missed(AT_LEAST);
    Ok(())
}

#[test]
fn every_attempt_works_without_a_sandbox() -> Result<()> {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let (stage, attempts) = (Stage::set_up()?, attempt::all()?);
    let beside = Running::start(&stage.home("beside")?, Layers::ALL, LimitsBy::Cgroups)?;
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let aims =
        Aims { inside: false, server_port: listener.local_addr()?.port(), neighbour: beside.neighbour()? };
    let mut table = Table::new("control");
    table.fill(&attempts, |attempt| control::run(&stage, &aims, attempt), control::missed);
    ensure!(stage.is_clean()?, "an attempt left something on the host");
    table.assert_nothing_missed(AT_LEAST);
    Ok(())
}

#[test]
fn each_layer_is_missed_when_it_is_off() -> Result<()> {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let (stage, attempts) = (Stage::set_up()?, attempt::all()?);
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let mut table = Table::new("layers-off");
    for case in layers_off::cases() {
        let off = case.without;
        let t = std::time::Instant::now();
        let running = Running::start(&stage.home(off)?, case.layers, case.limits_by)?;
        let aims = Aims {
            inside: true,
            server_port: listener.local_addr()?.port(),
            neighbour: running.neighbour()?,
        };
        eprintln!("{off} started {:?}", t.elapsed());
        let run = |attempt: &Attempt| running.run(stage.program(attempt, &aims)?);
        let alone = attempts.iter().filter(|attempt| attempt.layer == off && attempt.stands_alone());
        let before = table.rows();
        table.within(off).fill(alone, run, must_escape);
        ensure!(table.rows() > before, "no attempt would notice that '{off}' is off");
        let others = attempts.iter().filter(|attempt| !attempt.concerns(off)).step_by(SAMPLE);
        eprintln!("{off} half {:?}", t.elapsed());
        table.fill(others, run, must_be_blocked);
        eprintln!("{off} ran {:?}", t.elapsed());
        drop(running);
        eprintln!("{off} ended {:?}", t.elapsed());
    }
    table.assert_nothing_missed(AT_LEAST);
    Ok(())
}

/// Landlock and seccomp refuse a process that could still gain privileges and has no capability, and then no
/// sandbox starts at all.
#[test]
fn nothing_runs_without_no_new_privileges() -> Result<()> {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let stage = Stage::set_up()?;
    let layers = Layers { no_new_privileges: false, ..Layers::ALL };
    let started = Running::start(&stage.home("nnp")?, layers, LimitsBy::Cgroups);
    ensure!(started.is_err(), "an engine without no_new_privs started");
    Ok(())
}

fn must_be_blocked(attempt: &Attempt, verdict: &Verdict) -> Option<String> {
    let right = attempt.is_blocked_rightly(verdict);
    (!right).then(|| format!("BLOCKED {}", attempt.blocked.join("|")))
}

fn must_escape(_: &Attempt, verdict: &Verdict) -> Option<String> {
    (!matches!(verdict, Verdict::Escaped(_))).then(|| "ESCAPED".to_owned())
}
