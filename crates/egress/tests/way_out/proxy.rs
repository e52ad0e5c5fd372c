//! The HTTP proxy and SOCKS: what the policy allows is reached, everything else is refused in words, and nothing is
//! looked up or connected to for what is refused.

use crate::support::{OPENED, World, read_all, within};
use sandgate_core::network::{NetworkCeiling, NetworkLimits, NetworkPolicy};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

pub(crate) fn status(answer: &str) -> &str {
    answer.split(' ').nth(1).unwrap_or_default()
}

#[tokio::test]
async fn an_allowed_name_is_reached_by_connect_and_by_url() {
    let world = World::start().await;
    let inside = world.sandbox();
    let port = world.http_port();
    let (mut stream, answer) = inside.connect(&format!("a.allowed.test:{port}")).await;
    assert_eq!(status(&answer), "200", "{answer}");
    let request = format!("GET /one HTTP/1.1\r\nHost: a.allowed.test:{port}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    assert!(read_all(&mut stream).await.contains("GET /one"));
    let answer = inside.get(&format!("http://b.allowed.test:{port}/two?x=1"), "X-Mine: 1\r\n").await;
    assert!(answer.contains("GET /two?x=1") && answer.contains("x-mine: 1"), "{answer}");
    let asked = world.plain.asked();
    assert_eq!(asked.len(), 2);
    assert_eq!(asked[1].headers["host"], format!("b.allowed.test:{port}").as_str());
    let seen = inside.seen(2).await;
    for seen in seen {
        let whole = seen.sent > 40 && seen.received > 50;
        assert!(seen.address == Some(OPENED.parse().unwrap()) && whole, "{seen:?}");
    }
}

#[tokio::test]
async fn a_refusal_says_what_why_and_how() {
    let world = World::start().await;
    let inside = world.sandbox();
    for answer in [
        inside.connect("evil.test:443").await.1,
        inside.get("http://evil.test/x", "").await,
        inside.get("http://allowed.test/x", "").await,
        inside.connect("a.allowed.test:22").await.1,
    ] {
        assert_eq!(status(&answer), "403", "{answer}");
        for words in ["Denied by the network policy", "no rule allows", "To allow it"] {
            assert!(answer.contains(words), "{answer}");
        }
    }
    assert_eq!(world.dns.asked(), Vec::<String>::new(), "nothing leaves for what is refused");
    assert_eq!(inside.denials(4).await.len(), 4);
}

#[tokio::test]
async fn no_spelling_of_an_address_inside_is_reached() {
    let world = World::start().await;
    let inside = world.sandbox_with(&NetworkPolicy::open(), NetworkLimits::default());
    let port = world.dns.address().port();
    for host in [
        "127.0.0.1",
        "127.1",
        "2130706433",
        "0x7f000001",
        "0x7f.0.0.1",
        "0177.0.0.1",
        "0",
        "0.0.0.0",
        "127.0.0.1.",
        "localhost",
        "LOCALHOST.",
        "a.localhost",
        "[::1]",
        "[::]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[::127.0.0.1]",
        "[64:ff9b::7f00:1]",
        "[2002:7f00:1::]",
        "[fe80::1%25lo]",
        "169.254.169.254",
        "[::ffff:169.254.169.254]",
        "10.0.0.1",
        "100.64.0.1",
        "[fd00:ec2::254]",
        "１２７.０.０.１",
        "127。0。0。1",
    ] {
        let (_, answer) = inside.connect(&format!("{host}:{port}")).await;
        assert!(["403", "400"].contains(&status(&answer)), "{host}: {answer}");
        let answer = inside.get(&format!("http://{host}:{port}/"), "").await;
        assert!(["403", "400"].contains(&status(&answer)), "{host}: {answer}");
    }
}

#[tokio::test]
async fn names_that_lead_inside_are_refused_when_connecting() {
    let world = World::start().await;
    let port = world.http_port();
    for addresses in [
        &["127.0.0.1"][..],
        &["169.254.169.254"],
        &["10.1.2.3"],
        &["::1"],
        &["::ffff:10.0.0.1"],
        &["64:ff9b::a00:1"],
        &["fd00::1"],
        &[OPENED, "192.168.0.1"],
    ] {
        world.dns.answer("liar.allowed.test", addresses);
        let (_, answer) = world.sandbox().connect(&format!("liar.allowed.test:{port}")).await;
        assert_eq!(status(&answer), "403", "{addresses:?}: {answer}");
        assert!(answer.contains("no sandbox may reach"), "{answer}");
    }
    assert!(world.plain.asked().is_empty());
}

#[tokio::test]
async fn a_name_that_rebinds_is_checked_each_time() {
    let world = World::start().await;
    let port = world.http_port();
    world.dns.answer_in_turn("turn.allowed.test", &[&[OPENED], &["127.0.0.1"], &["127.0.0.1"]]);
    let target = format!("turn.allowed.test:{port}");
    assert_eq!(status(&world.sandbox().connect(&target).await.1), "200");
    assert_eq!(status(&world.sandbox().connect(&target).await.1), "403");
}

#[tokio::test]
async fn an_address_is_reached_only_by_a_rule_for_addresses() {
    let world = World::start().await;
    let target = format!("{OPENED}:{}", world.http_port());
    assert_eq!(status(&world.sandbox().connect(&target).await.1), "403");
    let allowed = NetworkPolicy::from_words([target.as_str()]).unwrap();
    let inside = world.sandbox_with(&allowed, NetworkLimits::default());
    assert_eq!(status(&inside.connect(&target).await.1), "200");
    let named = format!("a.allowed.test:{}", world.http_port());
    assert_eq!(status(&inside.connect(&named).await.1), "403", "a name is not its address");
    assert_eq!(world.dns.asked(), Vec::<String>::new());
}

#[tokio::test]
async fn a_host_that_disagrees_is_refused() {
    let world = World::start().await;
    let inside = world.sandbox();
    let port = world.http_port();
    let url = format!("http://a.allowed.test:{port}/");
    for host in ["evil.test", "b.allowed.test", "a.allowed.test:1", "a.allowed.test@evil.test", ""] {
        let answer = inside.get(&url, &format!("Host: {host}\r\n")).await;
        assert!(["403", "400"].contains(&status(&answer)), "{host}: {answer}");
    }
    let twice = format!("Host: a.allowed.test:{port}\r\nHost: evil.test\r\n");
    assert_eq!(status(&inside.get(&url, &twice).await), "400");
    // Also where servers forgive how a request begins.
    for line in ["GET / HTTP/1.1", "\r\n\r\nGET / HTTP/1.1", "get / HTTP/1.1", "VERSION-CONTROL / HTTP/1.1"] {
        let (mut stream, _) = inside.connect(&format!("a.allowed.test:{port}")).await;
        let request = format!("{line}\r\nHost: evil.test\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let answer = read_all(&mut stream).await;
        assert!(answer.starts_with("HTTP/1.1 403") && answer.contains("must be the same host"), "{answer}");
    }
    assert!(world.plain.asked().is_empty());
}

#[tokio::test]
async fn the_second_request_of_a_connection_is_checked_like_the_first() {
    let world = World::start().await;
    let inside = world.sandbox();
    let port = world.http_port();
    let good = format!("GET http://a.allowed.test:{port}/ HTTP/1.1\r\nHost: a.allowed.test:{port}\r\n\r\n");
    let bad = "GET http://evil.test/ HTTP/1.1\r\nHost: evil.test\r\nConnection: close\r\n\r\n";
    let answers = inside.ask(&format!("{good}{bad}")).await;
    assert!(answers.starts_with("HTTP/1.1 200") && answers.contains("HTTP/1.1 403"), "{answers}");
    assert_eq!(world.plain.asked().len(), 1);
}

#[tokio::test]
async fn a_redirection_leads_nowhere_else() {
    let world = World::start().await;
    let inside = world.sandbox();
    let url = format!("http://a.allowed.test:{}/redirect/http://169.254.169.254/", world.http_port());
    let answer = inside.get(&url, "").await;
    assert_eq!(status(&answer), "302", "the program decides: {answer}");
    assert_eq!(status(&inside.get("http://169.254.169.254/", "").await), "403");
}

#[tokio::test]
async fn the_proxy_is_no_way_to_itself_or_the_server() {
    let world = World::start().await;
    let inside = world.sandbox_with(&NetworkPolicy::open(), NetworkLimits::default());
    let other = world.sandbox();
    for target in [inside.proxy.to_string(), other.proxy.to_string(), world.dns.address().to_string()] {
        assert_eq!(status(&inside.connect(&target).await.1), "403", "{target}");
    }
    let answer = inside.ask("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").await;
    assert_eq!(status(&answer), "400");
    let answer = inside
        .ask("GET https://a.allowed.test/ HTTP/1.1\r\nHost: a.allowed.test\r\nConnection: close\r\n\r\n")
        .await;
    assert!(answer.contains("CONNECT only"), "{answer}");
}

#[tokio::test]
async fn the_ceiling_stands_above_the_policy() {
    let world = World::start().await;
    let ceiling = NetworkCeiling::from_words(["b.allowed.test:*"]).unwrap();
    let inside = world.sandbox_under(&world.usual(), NetworkLimits::default(), vec![ceiling]);
    let port = world.http_port();
    assert_eq!(status(&inside.connect(&format!("b.allowed.test:{port}")).await.1), "200");
    let answer = inside.connect(&format!("a.allowed.test:{port}")).await.1;
    assert!(answer.contains("Only the operator"), "{answer}");
}

#[tokio::test]
async fn a_new_policy_ends_what_it_does_not_allow() {
    let world = World::start().await;
    let inside = world.sandbox();
    let port = world.http_port();
    let (mut stream, _) = inside.connect(&format!("a.allowed.test:{port}")).await;
    stream.write_all(b"\0").await.unwrap();
    inside.policy.exchange(world.policy(&["b.allowed.test"]));
    assert_eq!(within(stream.read(&mut [0; 10])).await.unwrap_or(0), 0);
    assert_eq!(status(&inside.connect(&format!("a.allowed.test:{port}")).await.1), "403");
    assert_eq!(status(&inside.connect(&format!("b.allowed.test:{port}")).await.1), "200");
}

#[tokio::test]
async fn the_end_of_a_sandbox_ends_its_connections() {
    let world = World::start().await;
    let inside = world.sandbox();
    let (mut stream, _) = inside.connect(&format!("a.allowed.test:{}", world.http_port())).await;
    let proxy = inside.proxy;
    drop(inside);
    assert_eq!(within(stream.read(&mut [0; 10])).await.unwrap_or(0), 0);
    within(async {
        while TcpStream::connect(proxy).await.is_ok() {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    })
    .await;
}

#[tokio::test]
async fn connections_and_bytes_are_bounded() {
    let world = World::start().await;
    let port = world.http_port();
    let target = format!("a.allowed.test:{port}");
    let limits = NetworkLimits { connections: 1, ..NetworkLimits::default() };
    let inside = world.sandbox_with(&world.usual(), limits);
    let (held, first) = inside.connect(&target).await;
    assert_eq!(status(&first), "200");
    let (_, second) = inside.connect(&target).await;
    assert!(status(&second) == "429" && second.contains("which is the limit"), "{second}");
    drop(held);
    let limits = NetworkLimits { bytes: Some(100_000), ..NetworkLimits::default() };
    let inside = world.sandbox_with(&world.usual(), limits);
    let answer = inside.get(&format!("http://{target}/bytes/10000000"), "").await;
    // What was on its way when the last byte was paid for.
    assert!(answer.len() < 400_000, "{}", answer.len());
    let (_, spent) = inside.connect(&target).await;
    assert!(status(&spent) == "429" && spent.contains("used up"), "{spent}");
}

#[tokio::test]
async fn connections_in_a_second_are_bounded_and_floods_are_told_once() {
    let world = World::start().await;
    let target = format!("a.allowed.test:{}", world.http_port());
    let limits = NetworkLimits { connections_per_second: 5, ..NetworkLimits::default() };
    let inside = world.sandbox_with(&world.usual(), limits);
    let mut refused = Vec::new();
    for at in 0..40 {
        let host = if at % 2 == 0 { target.as_str() } else { "evil.test:443" };
        let answer = inside.connect(host).await.1;
        if status(&answer) == "429" {
            refused.push(answer);
        }
    }
    assert!(refused.len() > 5, "{}", refused.len());
    assert!(refused[0].contains("more than 5 connections in a second"), "{}", refused[0]);
    let seen = inside.seen(10).await;
    let (records, told) = (seen.len(), seen.iter().map(|seen| seen.times).sum::<u64>());
    assert!(records < 40 && told <= 40, "{records} records stand for {told}");
    assert!(seen.iter().any(|seen| seen.times > 1), "some stand for more than one: {seen:?}");
}

#[tokio::test]
async fn all_sandboxes_together_are_bounded_too() {
    let mut world = World::start().await;
    world.bound_to(2);
    let target = format!("a.allowed.test:{}", world.http_port());
    let (one, other) = (world.sandbox(), world.sandbox());
    let held = [one.connect(&target).await, other.connect(&target).await];
    assert!(held.iter().all(|(_, answer)| status(answer) == "200"), "{held:?}");
    let answer = other.connect(&target).await.1;
    assert!(status(&answer) == "503" && answer.contains("of all sandboxes"), "{answer}");
    drop(held);
    within(async { while status(&other.connect(&target).await.1) != "200" {} }).await;
}

/// Requests of many forms on a port that is not the web's, of which no server gets one for another host.
#[tokio::test]
async fn a_request_in_pieces_is_no_way_around_the_host() {
    let world = World::start().await;
    let inside = world.sandbox();
    let port = world.http_port();
    for pieces in
        [["GE", "T / HTTP/1.1\r\nHost: evil.test\r\n\r\n"], ["hi", " / HTTP/1.1\r\nHost: evil.test\r\n\r\n"]]
    {
        let (mut stream, _) = inside.connect(&format!("a.allowed.test:{port}")).await;
        for piece in pieces {
            stream.write_all(piece.as_bytes()).await.unwrap();
            tokio::time::sleep(std::time::Duration::from_millis(600)).await;
        }
        assert_eq!(read_all(&mut stream).await, "");
    }
    assert!(world.plain.asked().is_empty());
    assert!(inside.denials(2).await.iter().all(|why| why.contains("without a pause")));
}

pub(crate) async fn socks(inside: &crate::support::Inside, request: &[u8]) -> (TcpStream, u8) {
    let mut stream = TcpStream::connect(inside.socks).await.unwrap();
    stream.write_all(&[5, 1, 0]).await.unwrap();
    let mut greeting = [0; 2];
    within(stream.read_exact(&mut greeting)).await.unwrap();
    assert_eq!(greeting, [5, 0]);
    stream.write_all(request).await.unwrap();
    let mut answer = [0; 10];
    within(stream.read_exact(&mut answer)).await.unwrap();
    (stream, answer[1])
}

pub(crate) fn socks_request(command: u8, host: &str, port: u16) -> Vec<u8> {
    let mut request = vec![5, command, 0, 3, u8::try_from(host.len()).unwrap()];
    request.extend(host.as_bytes());
    request.extend(port.to_be_bytes());
    request
}

#[tokio::test]
async fn socks_reaches_what_is_allowed_and_nothing_else() {
    let world = World::start().await;
    let inside = world.sandbox();
    let port = world.http_port();
    let (mut stream, code) = socks(&inside, &socks_request(1, "a.allowed.test", port)).await;
    assert_eq!(code, 0);
    let request = format!("GET /socks HTTP/1.1\r\nHost: a.allowed.test:{port}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    assert!(read_all(&mut stream).await.contains("GET /socks"));
    for (command, host, expected) in [
        (1, "evil.test", 2),
        (1, "127.0.0.1", 2),
        (1, "localhost", 2),
        (2, "a.allowed.test", 7),
        (3, "a.allowed.test", 7),
    ] {
        assert_eq!(socks(&inside, &socks_request(command, host, port)).await.1, expected, "{host}");
    }
    let four = [&[5, 1, 0, 1, 127, 0, 0, 1][..], &port.to_be_bytes()].concat();
    assert_eq!(socks(&inside, &four).await.1, 2);
}

#[tokio::test]
async fn names_are_answered_without_asking_anyone() {
    let world = World::start().await;
    let inside = world.sandbox();
    let (code, address) = inside.lookup("a.allowed.test").await;
    assert!(code == 0 && matches!(address, Some([198, 18 | 19, _, _])), "{address:?}");
    let (code, address) = inside.lookup("c2VjcmV0.data.allowed.test").await;
    assert!(code == 0 && address.is_some(), "below the wildcard, but nobody hears of it");
    for name in ["evil.test", "allowed.test", "localhost", "x.a.allowed.test.evil.test"] {
        assert_eq!(inside.lookup(name).await, (3, None), "{name}");
    }
    assert_eq!(world.dns.asked(), Vec::<String>::new());
    assert_eq!(inside.denials(4).await.len(), 4);
}

#[tokio::test]
async fn names_that_are_refused_are_told_of_however_many_there_were() {
    let world = World::start().await;
    let inside = world.sandbox();
    for number in 0..300 {
        assert_eq!(inside.lookup(&format!("n{number}.evil.test")).await.0, 3);
    }
    tokio::time::sleep(std::time::Duration::from_millis(1100)).await;
    inside.lookup("last.evil.test").await;
    let seen = inside.seen(257).await;
    assert_eq!(seen.iter().map(|seen| seen.times).sum::<u64>(), 301);
    assert_eq!(seen.last().unwrap().name.as_deref(), Some("last.evil.test"));
    assert!(seen.len() < 265, "{}", seen.len());
}
