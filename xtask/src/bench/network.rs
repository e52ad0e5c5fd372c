//! `cargo xtask bench network`: what the way out of a sandbox costs, beside a direct connection on the same loopback:
//! bytes per second through a tunnel of the proxy, to the client and from it, and the time until a new connection can be
//! used.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use clap::Args;
use rustix::net::sockopt::set_tcp_congestion;
use rustix::net::{AddressFamily, SocketType, socket};
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
/// What the client asks of the server with its first byte. No letters: they could be the beginning of a request, which
/// the proxy would wait for.
const ONE_BYTE: u8 = b'0';
const MANY: u8 = b'1';
const TAKE_MANY: u8 = b'2';

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
    /// How the client and the server send, on either way. Many a machine's default is `bbr`, which paces: a direct
    /// stream over loopback is then now of one speed and now of half of it, and no measure for anything.
    #[arg(long, default_value = "reno", value_name = "NAME")]
    congestion: String,
    /// Put the tables into BENCHMARKS.md.
    #[arg(long)]
    record: bool,
}

pub(crate) fn run(ground: &Ground, options: &Options) -> Result<ExitCode> {
    let arguments = format!(
        "--rounds {} --mebibytes {} --connections {} --congestion {}",
        options.rounds, options.mebibytes, options.connections, options.congestion
    );
    if let Some(done) = optimised(ground, "network", &arguments, options.record)? {
        return Ok(done);
    }
    let measured = place::measured(ground, "one stream over loopback at a time");
    let tokio = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let bytes = options.mebibytes << 20;
    let congestion = options.congestion.as_str();
    let server = serve(bytes, congestion)?;
    let (proxy, _attached) = {
        let _entered = tokio.enter();
        tunnel_to(server)?
    };
    let mut samples = Samples::default();
    let direct = || open(server, congestion);
    let proxied = || connect(proxy, server, congestion);
    for _ in 0..options.rounds {
        samples.add("direct_received_gb_per_second", receive(direct()?, bytes)?);
        samples.add("proxy_received_gb_per_second", receive(proxied()?, bytes)?);
        samples.add("direct_sent_gb_per_second", send(direct()?, bytes)?);
        samples.add("proxy_sent_gb_per_second", send(proxied()?, bytes)?);
        for _ in 0..options.connections {
            samples.add("direct_connection_ms", first_byte(direct)?);
            samples.add("proxy_connection_ms", first_byte(proxied)?);
        }
    }
    let (tables, bars) = (vec![figures(&samples)], bars(&samples));
    Finding { name: "network", arguments, measured, tables, bars, samples }.publish(ground, options.record)
}

fn serve(bytes: usize, congestion: &str) -> Result<SocketAddr> {
    let listener = TcpListener::bind((OUTSIDE, 0))?;
    // Those that are accepted have it from here.
    set_tcp_congestion(&listener, congestion)?;
    let address = listener.local_addr()?;
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || answer(stream, bytes));
        }
    });
    Ok(address)
}

/// Who breaks off is missed by the client, which counts.
fn answer(mut stream: TcpStream, bytes: usize) -> Result<()> {
    stream.set_nodelay(true)?;
    let mut asked = [0];
    stream.read_exact(&mut asked)?;
    match asked[0] {
        MANY => give(&mut stream, bytes),
        TAKE_MANY if take(&mut stream)? != bytes => Ok(()),
        _ => Ok(stream.write_all(&[ONE_BYTE])?),
    }
}

fn give(stream: &mut TcpStream, bytes: usize) -> Result<()> {
    let piece = vec![b'x'; PIECE];
    for _ in 0..bytes / PIECE {
        stream.write_all(&piece)?;
    }
    Ok(stream.shutdown(Shutdown::Write)?)
}

/// How many came until the end.
fn take(stream: &mut TcpStream) -> Result<usize> {
    let mut piece = vec![0; PIECE];
    let mut total = 0;
    loop {
        match stream.read(&mut piece)? {
            0 => return Ok(total),
            read => total += read,
        }
    }
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

fn open(to: SocketAddr, congestion: &str) -> Result<TcpStream> {
    let socket = socket(AddressFamily::INET, SocketType::STREAM, None)?;
    // Before it connects: a connection that began paced stays so.
    set_tcp_congestion(&socket, congestion)?;
    rustix::net::connect(&socket, &to)?;
    let stream = TcpStream::from(socket);
    stream.set_nodelay(true)?;
    Ok(stream)
}

/// Through the proxy, ready to be used.
fn connect(proxy: SocketAddr, server: SocketAddr, congestion: &str) -> Result<TcpStream> {
    let mut stream = open(proxy, congestion)?;
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

/// Gigabytes per second from the server to the client.
fn receive(mut stream: TcpStream, bytes: usize) -> Result<f64> {
    stream.write_all(&[MANY])?;
    let began = Instant::now();
    let came = take(&mut stream)?;
    ensure!(came == bytes, "{came} of {bytes} bytes came");
    Ok(speed(bytes, began))
}

/// Gigabytes per second from the client to the server, until it has said that it has them.
fn send(mut stream: TcpStream, bytes: usize) -> Result<f64> {
    stream.write_all(&[TAKE_MANY])?;
    let began = Instant::now();
    give(&mut stream, bytes)?;
    stream.read_exact(&mut [0]).context("the server has not got all")?;
    Ok(speed(bytes, began))
}

#[expect(clippy::cast_precision_loss, reason = "a speed")]
fn speed(bytes: usize, began: Instant) -> f64 {
    bytes as f64 / 1e9 / began.elapsed().as_secs_f64()
}

/// Milliseconds until a new connection has given its first byte.
fn first_byte(open: impl Fn() -> Result<TcpStream>) -> Result<f64> {
    let began = Instant::now();
    let mut stream = open()?;
    stream.set_read_timeout(Some(Duration::from_secs(10)))?;
    stream.write_all(&[ONE_BYTE])?;
    stream.read_exact(&mut [0]).context("no answer")?;
    Ok(milliseconds(began))
}

fn figures(samples: &Samples) -> String {
    let mut rows = vec![["median", "direct", "through the proxy", "p90"].map(str::to_owned)];
    for (what, series) in [
        ("one stream to the client, GB/s", "received_gb_per_second"),
        ("one stream from the client, GB/s", "sent_gb_per_second"),
        ("a new connection and its first byte, ms", "connection_ms"),
    ] {
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
    let share = |series| both(series).map(|(direct, proxy)| proxy / direct * 100.0);
    let added = both("connection_ms").map(|(direct, proxy)| proxy - direct);
    let half = Bound::AtLeast(50.0);
    vec![
        Target::new("receiving through the proxy, % of direct", half, share("received_gb_per_second")),
        Target::new("sending through the proxy, % of direct", half, share("sent_gb_per_second")),
        Target::new("a new connection: added, ms", Bound::AtMost(1.0), added),
    ]
}
