//! `cargo xtask bench network`: what the way out of a sandbox costs. One client, on the host and inside a real sandbox,
//! asks the same server: bytes per second to the client and from it, and the time until a new connection can be used.

mod clients;
mod ends;

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;

use super::finding::{Finding, optimised};
use super::markdown::{figure, table};
use super::place;
use super::samples::Samples;
use super::targets::{Bound, Target};
use crate::ground::Ground;
use clients::{Clients, Way};

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Rounds; in each, all ways are measured one after the other.
    #[arg(long, default_value_t = 15)]
    rounds: usize,
    /// Bytes of one transfer, in MiB.
    #[arg(long, default_value_t = 512)]
    mebibytes: usize,
    /// New connections of one round.
    #[arg(long, default_value_t = 100)]
    connections: usize,
    /// How the server and the client on the host send. Many a machine's default is `bbr`, which paces: a direct stream
    /// over loopback is then now of one speed and now of half of it, and no measure for anything.
    #[arg(long, default_value = "reno", value_name = "NAME")]
    congestion: String,
    /// Put the tables into BENCHMARKS.md.
    #[arg(long)]
    record: bool,
}

const RECEIVED: &str = "received_gb_per_second";
const SENT: &str = "sent_gb_per_second";
const CONNECTED: &str = "connection_ms";

pub(crate) fn run(ground: &Ground, options: &Options) -> Result<ExitCode> {
    let arguments = format!(
        "--rounds {} --mebibytes {} --connections {} --congestion {}",
        options.rounds, options.mebibytes, options.connections, options.congestion
    );
    if let Some(done) = optimised(ground, "network", &arguments, options.record)? {
        return Ok(done);
    }
    let measured = place::measured(ground, "one stream at a time");
    let bytes = options.mebibytes << 20;
    let server = ends::serve(bytes, &options.congestion)?;
    let clients = Clients::start(ground, server.port(), bytes, &options.congestion)?;
    let mut samples = Samples::default();
    for _ in 0..options.rounds {
        for way in [Way::Direct, Way::Tunnel, Way::Plain, Way::Http] {
            let mut take = |what, series: &str, times| -> Result<()> {
                samples.add_all(&format!("{}_{series}", way.name()), &clients.measure(way, what, times)?);
                Ok(())
            };
            take("received", RECEIVED, 1)?;
            if !matches!(way, Way::Http) {
                take("sent", SENT, 1)?;
                take("connected", CONNECTED, options.connections)?;
            }
        }
    }
    clients.end();
    let (tables, bars) = (vec![figures(&samples)], bars(&samples));
    Finding { name: "network", arguments, measured, tables, bars, samples }.publish(ground, options.record)
}

fn figures(samples: &Samples) -> String {
    let heads =
        ["median", "direct", "inside, by CONNECT", "inside, without a proxy", "inside, by plain HTTP"];
    let mut rows = vec![heads.map(str::to_owned)];
    for (what, series) in [
        ("one stream to the client, GB/s", RECEIVED),
        ("one stream from the client, GB/s", SENT),
        ("a new connection and its first byte, ms", CONNECTED),
    ] {
        let of = |way: Way| figure(samples.median(&format!("{}_{series}", way.name())));
        rows.push([what.to_owned(), of(Way::Direct), of(Way::Tunnel), of(Way::Plain), of(Way::Http)]);
    }
    table(&rows)
}

/// From the issue that asked for the network.
fn bars(samples: &Samples) -> Vec<Target> {
    let both = |way: Way, series: &str| {
        let of = |way: Way| samples.median(&format!("{}_{series}", way.name()));
        Some((of(Way::Direct)?, of(way)?))
    };
    let share = |way, series| both(way, series).map(|(direct, inside)| inside / direct * 100.0);
    let added = |way| both(way, CONNECTED).map(|(direct, inside)| inside - direct);
    let (half, one) = (Bound::AtLeast(50.0), Bound::AtMost(1.0));
    vec![
        Target::new("receiving by CONNECT, % of direct", half, share(Way::Tunnel, RECEIVED)),
        Target::new("receiving without a proxy, % of direct", half, share(Way::Plain, RECEIVED)),
        Target::new("receiving by plain HTTP, % of direct", half, share(Way::Http, RECEIVED)),
        Target::new("sending by CONNECT, % of direct", half, share(Way::Tunnel, SENT)),
        Target::new("sending without a proxy, % of direct", half, share(Way::Plain, SENT)),
        Target::new("a new connection by CONNECT: added, ms", one, added(Way::Tunnel)),
        Target::new("a new connection without a proxy: added, ms", one, added(Way::Plain)),
    ]
}
