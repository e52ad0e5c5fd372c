//! One round: the life of a sandbox at each provider, without the gate and through it, another one first each time.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use bytes::Bytes;
use hyper::Method;
use serde_json::{Value, json};

use super::direct::Direct;
use crate::bench::gate::client::{Client, Reply};
use crate::bench::pairs::{Ways, keep_step};
use crate::bench::samples::Samples;

pub(super) const WAYS: Ways = Ways { base: ("direct", "without the gate"), own: ("gate", "through it") };

/// From the issue that asked for backends that others run.
pub(super) const BARS: [(&str, &str, f64); 4] = [
    ("E2B, create plus first run: added, ms", "e2b_create_first", 5.0),
    ("E2B, warm run: added, ms", "e2b_warm", 5.0),
    ("OpenSandbox, create plus first run: added, ms", "opensandbox_create_first", 5.0),
    ("OpenSandbox, warm run: added, ms", "opensandbox_warm", 5.0),
];

pub(super) const STEPS: [(&str, &str); 6] = [
    ("E2B: create plus first run", "e2b_create_first"),
    ("E2B: warm run", "e2b_warm"),
    ("E2B: delete", "e2b_delete"),
    ("OpenSandbox: create plus first run", "opensandbox_create_first"),
    ("OpenSandbox: warm run", "opensandbox_warm"),
    ("OpenSandbox: delete", "opensandbox_delete"),
];

const CODE: &str = "print(6 * 7)";
const ANSWER: &str = "42";
/// Runs after the first.
const WARM: usize = 10;
/// Between two lives, so that the provider has made ready what the last one took.
const PAUSE: Duration = Duration::from_millis(150);

/// Milliseconds of one life.
#[derive(Debug, Default)]
struct Times {
    create_first: f64,
    warm: Vec<f64>,
    delete: f64,
}

pub(super) async fn round(
    far: SocketAddr,
    gate: SocketAddr,
    number: usize,
    samples: &mut Samples,
) -> Result<()> {
    for name in ["e2b", "opensandbox"] {
        let (mut direct, mut through) = (Times::default(), Times::default());
        for turn in 0..2 {
            tokio::time::sleep(PAUSE).await;
            if (turn + number).is_multiple_of(2) {
                direct = without(name, far).await.with_context(|| format!("{name} without the gate"))?;
            } else {
                through = with_gate(name, gate).await.with_context(|| format!("{name} through the gate"))?;
            }
        }
        let mut keep = |step: &str, base: &[f64], own: &[f64]| {
            keep_step(samples, WAYS, &format!("{name}_{step}"), base, own);
        };
        keep("create_first", &[direct.create_first], &[through.create_first]);
        keep("warm", &direct.warm, &through.warm);
        keep("delete", &[direct.delete], &[through.delete]);
    }
    Ok(())
}

async fn without(name: &str, far: SocketAddr) -> Result<Times> {
    let mut times = Times::default();
    let begun = Instant::now();
    let mut sandbox = match name {
        "e2b" => Direct::e2b(far).await?,
        _ => Direct::opensandbox(far).await?,
    };
    printed(&sandbox.run(CODE).await?)?;
    times.create_first = ms(begun);
    for _ in 0..WARM {
        let begun = Instant::now();
        printed(&sandbox.run(CODE).await?)?;
        times.warm.push(ms(begun));
    }
    let begun = Instant::now();
    sandbox.delete().await?;
    times.delete = ms(begun);
    Ok(times)
}

async fn with_gate(name: &str, gate: SocketAddr) -> Result<Times> {
    let mut client = Client::new(gate, "sk-bench");
    let mut times = Times::default();
    let which = [("sandgate-backend", name.to_owned())];
    let begun = Instant::now();
    let body = Bytes::from(json!({"code": CODE}).to_string());
    let reply = client.send_with(Method::POST, "/v1/execute", &which, body).await?;
    times.create_first = ms(begun);
    printed(&reply)?;
    let said: Value = serde_json::from_str(&reply.text())?;
    let container = said["container"].as_str().context("no container")?.to_owned();
    for _ in 0..WARM {
        let body = Bytes::from(json!({"code": CODE, "container": container}).to_string());
        let begun = Instant::now();
        let reply = client.send(Method::POST, "/v1/execute", body).await?;
        times.warm.push(ms(begun));
        printed(&reply)?;
    }
    let begun = Instant::now();
    let reply = client.send(Method::DELETE, &format!("/v1/containers/{container}"), Bytes::new()).await?;
    times.delete = ms(begun);
    ensure!(reply.status.is_success(), "the container was not deleted: {}", reply.text());
    Ok(times)
}

fn printed(reply: &Reply) -> Result<()> {
    let text = reply.text();
    ensure!(reply.status.is_success() && text.contains(ANSWER), "{}: {text}", reply.status);
    Ok(())
}

fn ms(begun: Instant) -> f64 {
    begun.elapsed().as_secs_f64() * 1000.0
}
