//! `cargo xtask bench network`: what the way out of a sandbox costs, beside a direct connection on the same loopback:
//! bytes per second through a tunnel of the proxy, and the time until a new connection can be used.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use clap::Args;
use sandgate_core::network::{NetworkCeiling, NetworkLimits, NetworkPolicy};
use sandgate_egress::{Attached, Egress, EgressConfig, InsideSockets, LivePolicy, Unobserved};

use super::cells::milliseconds;
use super::finding::{Finding, optimised};
use super::markdown::{figure, table};
use super::place;
use super::samples::Samples;
use super::targets::{Bound, Target};
use crate::ground::Ground;

/// Not the first of the loopback, which nobody opens by mistake.
const OUTSIDE: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 9);
const PIECE: usize = 256 << 10;

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Rounds; in each, both ways are measured one after the other.
    #[arg(long, default_value_t = 15)]
    rounds: usize,
    /// Bytes of one transfer, in MiB.
    #[arg(long, default_value_t = 512)]
    mebibytes: usize,
    /// New connections of one round.
    #[arg(long, default_value_t = 100)]
    connections: usize,
    /// Put the tables into BENCHMARKS.md.
    #[arg(long)]
    record: bool,
}

pub(crate) fn run(ground: &Ground, options: &Options) -> Result<ExitCode> {
    let arguments = format!(
        "--rounds {} --mebibytes {} --connections {}",
        options.rounds, options.mebibytes, options.connections
    );
    if let Some(done) = optimised(ground, "network", &arguments, options.record)? {
        return Ok(done);
    }
    let measured = place::measured(ground, "one stream over loopback at a time");
    let tokio = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let server = serve(options.mebibytes << 20)?;
    let (proxy, _attached) = {
        let _entered = tokio.enter();
        tunnel_to(server)?
    };
    let mut samples = Samples::default();
    for _ in 0..options.rounds {
        samples.add("direct_gb_per_second", transfer(TcpStream::connect(server)?)?);
        samples.add("proxy_gb_per_second", transfer(connect(proxy, server)?)?);
        for _ in 0..options.connections {
            samples.add("direct_connection_ms", first_byte(|| Ok(TcpStream::connect(server)?))?);
            samples.add("proxy_connection_ms", first_byte(|| connect(proxy, server))?);
        }
    }
    let (tables, bars) = (vec![figures(&samples)], bars(&samples));
    Finding { name: "network", arguments, measured, tables, bars, samples }.publish(ground, options.record)
}

/// Answers `b` with one byte and `t` with many.
fn serve(bytes: usize) -> Result<SocketAddr> {
    let listener = TcpListener::bind((OUTSIDE, 0))?;
    let address = listener.local_addr()?;
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || answer(stream, bytes));
        }
    });
    Ok(address)
}

fn answer(mut stream: TcpStream, bytes: usize) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut asked = [0];
    stream.read_exact(&mut asked)?;
    if asked == *b"b" {
        return stream.write_all(b"b");
    }
    let piece = vec![b'x'; PIECE];
    for _ in 0..bytes / PIECE {
        stream.write_all(&piece)?;
    }
    Ok(())
}

fn tunnel_to(server: SocketAddr) -> Result<(SocketAddr, Attached)> {
    let range = format!("{OUTSIDE}/32").parse()?;
    let egress = Egress::new(EgressConfig { allow_private: vec![range], ..EgressConfig::default() })?;
    let policy = NetworkPolicy::from_words([server.to_string().as_str()])?;
    // More connections in a second than a sandbox may have, as their cost is what is measured.
    let limits = NetworkLimits { connections_per_second: u32::MAX, ..NetworkLimits::default() };
    let policy = LivePolicy::new(policy, vec![NetworkCeiling::unbounded()], limits);
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let proxy = listener.local_addr()?;
    let sockets = InsideSockets { http_proxy: Some(listener), ..InsideSockets::default() };
    Ok((proxy, egress.attach(sockets, policy, Arc::new(Unobserved))?))
}

/// Through the proxy, ready to be used.
fn connect(proxy: SocketAddr, server: SocketAddr) -> Result<TcpStream> {
    let mut stream = TcpStream::connect(proxy)?;
    stream.set_nodelay(true)?;
    stream.write_all(format!("CONNECT {server} HTTP/1.1\r\nHost: {server}\r\n\r\n").as_bytes())?;
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte)?;
        head.push(byte[0]);
    }
    ensure!(head.starts_with(b"HTTP/1.1 200"), "the proxy refused: {}", String::from_utf8_lossy(&head));
    Ok(stream)
}

/// Gigabytes per second.
fn transfer(mut stream: TcpStream) -> Result<f64> {
    // No letter: that could be the beginning of a request, which the proxy would wait for.
    stream.write_all(b"1")?;
    let mut piece = vec![0; PIECE];
    let began = Instant::now();
    let mut total = 0;
    loop {
        match stream.read(&mut piece)? {
            0 => break,
            read => total += read,
        }
    }
    #[expect(clippy::cast_precision_loss, reason = "a speed")]
    let speed = total as f64 / 1e9 / began.elapsed().as_secs_f64();
    Ok(speed)
}

/// Milliseconds until a new connection has given its first byte.
fn first_byte(open: impl Fn() -> Result<TcpStream>) -> Result<f64> {
    let began = Instant::now();
    let mut stream = open()?;
    stream.set_read_timeout(Some(Duration::from_secs(10)))?;
    stream.write_all(b"b")?;
    stream.read_exact(&mut [0]).context("no answer")?;
    Ok(milliseconds(began))
}

fn figures(samples: &Samples) -> String {
    let mut rows = vec![["median", "direct", "through the proxy", "p90"].map(str::to_owned)];
    for (what, series) in
        [("one stream, GB/s", "gb_per_second"), ("a new connection and its first byte, ms", "connection_ms")]
    {
        let proxy = samples.summary(&format!("proxy_{series}"));
        rows.push([
            what.to_owned(),
            figure(samples.median(&format!("direct_{series}"))),
            figure(proxy.map(|proxy| proxy.median)),
            figure(proxy.map(|proxy| proxy.p90)),
        ]);
    }
    table(&rows)
}

/// From the issue that asked for the network.
fn bars(samples: &Samples) -> Vec<Target> {
    let both = |series: &str| {
        let of = |way: &str| samples.median(&format!("{way}_{series}"));
        Some((of("direct")?, of("proxy")?))
    };
    let share = both("gb_per_second").map(|(direct, proxy)| proxy / direct * 100.0);
    let added = both("connection_ms").map(|(direct, proxy)| proxy - direct);
    vec![
        Target::new("throughput through the proxy, % of direct", Bound::AtLeast(50.0), share),
        Target::new("a new connection: added, ms", Bound::AtMost(1.0), added),
    ]
}
