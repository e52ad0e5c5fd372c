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

use anyhow::{Result, bail, ensure};
use sandgate_engine::{Layers, LimitsBy};

use attempt::{Attempt, Verdict};
use layers_off::Running;
use sandboxed::Server;
use stage::{Aims, Stage};
use table::Table;

/// How many attempts there are at least: fewer means that they were not found.
const AT_LEAST: usize = 200;

/// Each case without a layer tries one in so many of the attempts that the layer is nothing to, and the next case
/// others of them.
const SAMPLE: usize = 3;

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
    for (turn, case) in layers_off::cases().iter().enumerate() {
        let running = Running::start(&stage.home(case.off)?, case.layers, case.limits_by)?;
        let aims = Aims {
            inside: true,
            server_port: listener.local_addr()?.port(),
            neighbour: running.neighbour()?,
        };
        let run = |attempt: &Attempt| running.run(stage.program(attempt, &aims)?);
        let alone = attempts.iter().filter(|attempt| attempt.layer == case.off && attempt.stands_alone());
        let before = table.rows();
        table.within(case.off).fill(alone, run, must_escape);
        ensure!(table.rows() > before, "no attempt would notice that '{}' is off", case.off);
        // And nothing else: all other layers still do their work without this one.
        let others = attempts.iter().filter(|attempt| !case.concerns(attempt)).enumerate();
        let others = others.filter(|(at, attempt)| at % SAMPLE == turn % SAMPLE || attempt.layer == "nnp");
        let others = others.map(|(_, attempt)| attempt);
        table.fill(others, run, must_be_blocked);
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
    match Running::start(&stage.home("nnp")?, layers, LimitsBy::Cgroups) {
        Ok(_) => bail!("an engine without no_new_privs started"),
        Err(error) => {
            ensure!(format!("{error:#}").contains("landlock"), "it failed for another reason: {error:#}")
        }
    }
    Ok(())
}

fn must_be_blocked(attempt: &Attempt, verdict: &Verdict) -> Option<String> {
    let right = attempt.is_blocked_rightly(verdict);
    (!right).then(|| format!("BLOCKED {}", attempt.blocked.join("|")))
}

fn must_escape(_: &Attempt, verdict: &Verdict) -> Option<String> {
    (!matches!(verdict, Verdict::Escaped(_))).then(|| "ESCAPED".to_owned())
}
