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

use crate::ground::Ground;
use crate::run::must;
use crate::say::say;

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
}

#[derive(Default)]
struct Measured {
    /// Bytes per second.
    direct_speed: Vec<f64>,
    tunnel_speed: Vec<f64>,
    /// Seconds.
    direct_connect: Vec<f64>,
    tunnel_connect: Vec<f64>,
}

pub(crate) fn run(ground: &Ground, options: &Options) -> Result<ExitCode> {
    if cfg!(debug_assertions) {
        let mut command =
            ground.cargo(&["run", "--quiet", "--release", "--package", "xtask", "--", "bench", "network"]);
        let counts = [
            ("--rounds", options.rounds),
            ("--mebibytes", options.mebibytes),
            ("--connections", options.connections),
        ];
        command.args(counts.iter().flat_map(|(name, count)| [(*name).to_owned(), count.to_string()]));
        must(command)?;
        return Ok(ExitCode::SUCCESS);
    }
    let tokio = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let server = serve(options.mebibytes << 20)?;
    let (proxy, _attached) = {
        let _entered = tokio.enter();
        tunnel_to(server)?
    };
    let mut measured = Measured::default();
    for _ in 0..options.rounds {
        measured.direct_speed.push(transfer(TcpStream::connect(server)?)?);
        measured.tunnel_speed.push(transfer(connect(proxy, server)?)?);
        for _ in 0..options.connections {
            measured.direct_connect.push(first_byte(|| Ok(TcpStream::connect(server)?))?);
            measured.tunnel_connect.push(first_byte(|| connect(proxy, server))?);
        }
    }
    Ok(report(&mut measured))
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
    let policy = LivePolicy::new(policy, vec![NetworkCeiling::unbounded()], NetworkLimits::default());
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

/// Bytes per second.
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
    let speed = total as f64 / began.elapsed().as_secs_f64();
    Ok(speed)
}

/// Until a new connection has given its first byte.
fn first_byte(open: impl Fn() -> Result<TcpStream>) -> Result<f64> {
    let began = Instant::now();
    let mut stream = open()?;
    stream.set_read_timeout(Some(Duration::from_secs(10)))?;
    stream.write_all(b"b")?;
    stream.read_exact(&mut [0]).context("no answer")?;
    Ok(began.elapsed().as_secs_f64())
}

fn report(measured: &mut Measured) -> ExitCode {
    let row = |name: &str, values: &mut Vec<f64>, unit: f64, of: &str| {
        values.sort_by(f64::total_cmp);
        let at = |part: f64| {
            #[expect(
                clippy::cast_precision_loss,
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a place"
            )]
            let place = ((values.len() - 1) as f64 * part) as usize;
            values[place] * unit
        };
        say(&format!("{name:<28} p10 {:>9.3}  p50 {:>9.3}  p90 {:>9.3} {of}", at(0.1), at(0.5), at(0.9)));
        at(0.5)
    };
    let direct = row("direct, one stream", &mut measured.direct_speed, 1e-9, "GB/s");
    let tunnel = row("through the proxy", &mut measured.tunnel_speed, 1e-9, "GB/s");
    let before = row("direct, new connection", &mut measured.direct_connect, 1e3, "ms");
    let after = row("through the proxy", &mut measured.tunnel_connect, 1e3, "ms");
    let (share, added) = (tunnel / direct, after - before);
    say(&format!(
        "speed: {:.0} % of direct (at least 50); a connection: {added:.3} ms more (at most 1)",
        share * 100.0
    ));
    if share >= 0.5 && added <= 1.0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
