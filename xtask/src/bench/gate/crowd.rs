//! Many loops at once: does each end well, how many end in a second, and how much memory that takes.

use std::time::Instant;

use anyhow::Result;
use tokio::task::JoinSet;

use super::bodies::{self, Place};
use super::client::Client;
use super::loops;
use super::subjects::{Stage, Subject};
use crate::bench::samples::Samples;
use crate::say::say;

pub(super) const AT_ONCE: usize = 200;

/// A client, its container once it has one, and how its loops went.
struct Guest {
    client: Client,
    place: Option<String>,
    times: Vec<f64>,
    errors: usize,
}

/// First each in a container of its own, all new at once; then `again` more each, in the same.
pub(super) async fn gate(stage: &Stage, again: usize, samples: &mut Samples) -> Result<()> {
    samples.add("gate_before_crowd_mib", stage.gate.memory_mib("VmRSS")?);
    stage.gate.forget_peak()?;
    // A key each: as many users.
    let client = |number: usize| Client::new(stage.gate.address, &format!("sk-bench-{number}"));
    let guests = (0..AT_ONCE).map(|number| guest(client(number))).collect();
    let guests = wave(guests, 1, "crowd_fresh_gate", samples).await?;
    let mut guests = wave(guests, again, "crowd_gate", samples).await?;
    samples.add("gate_crowd_peak_mib", stage.gate.memory_mib("VmHWM")?);
    for guest in &mut guests {
        if let Some(place) = &guest.place {
            loops::remove(&mut guest.client, place).await?;
        }
    }
    samples.add("gate_after_crowd_mib", stage.gate.memory_mib("VmRSS")?);
    Ok(())
}

/// The same for LiteLLM, whose code never runs: the sandbox it asks has the answer ready.
pub(super) async fn litellm(stage: &Stage, samples: &mut Samples) -> Result<()> {
    let Ok(server) = &stage.litellm else { return Ok(()) };
    let guests = (0..AT_ONCE).map(|_| guest(stage.client(Subject::LiteLlm))).collect();
    wave(guests, 1, "crowd_fresh_litellm", samples).await?;
    samples.add("litellm_crowd_peak_mib", server.memory_mib("VmHWM")?);
    Ok(())
}

fn guest(client: Client) -> Guest {
    Guest { client, place: None, times: Vec::new(), errors: 0 }
}

async fn wave(guests: Vec<Guest>, loops: usize, name: &str, samples: &mut Samples) -> Result<Vec<Guest>> {
    let begun = Instant::now();
    let mut running = JoinSet::new();
    for guest in guests {
        running.spawn(stay(guest, loops));
    }
    let mut back = Vec::new();
    let (mut errors, mut ended) = (0, 0);
    while let Some(guest) = running.join_next().await {
        let mut guest = guest?;
        samples.add_all(&format!("{name}_ms"), &guest.times);
        ended += guest.times.len();
        errors += std::mem::take(&mut guest.errors);
        guest.times.clear();
        back.push(guest);
    }
    let rate = ended as f64 / begun.elapsed().as_secs_f64();
    samples.add(&format!("{name}_per_second"), rate);
    samples.add(&format!("{name}_errors"), errors as f64);
    say(&format!("{name}: {ended} loops, {errors} errors, {rate:.0} a second"));
    Ok(back)
}

async fn stay(mut guest: Guest, loops: usize) -> Guest {
    for _ in 0..loops {
        let place = guest.place.as_deref().map_or(Place::Fresh, Place::Known);
        let reply = guest.client.post("/v1/responses", bodies::looped(0, place)).await;
        match reply.and_then(|reply| Ok((reply.whole_ms(), loops::container(&reply)?))) {
            Ok((took, place)) => {
                guest.times.push(took);
                guest.place = Some(place);
            }
            Err(error) => {
                guest.errors += 1;
                say(&format!("{error:#}"));
            }
        }
    }
    guest
}
