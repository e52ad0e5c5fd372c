//! What a name server fails at is no reason to leave what it knows.

use std::net::{IpAddr, SocketAddr};

use tokio::net::UdpSocket;

use super::lookup;

/// Answers each question with a code, or with an address where there is one.
async fn serving(four: (u8, Option<[u8; 4]>), six: u8) -> SocketAddr {
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let address = socket.local_addr().unwrap();
    tokio::spawn(async move {
        let mut buffer = [0; 512];
        while let Ok((length, from)) = socket.recv_from(&mut buffer).await {
            let mut answer = buffer[..length].to_vec();
            let is_six = answer[length - 3] == 28;
            let (code, found) = if is_six { (six, None) } else { four };
            answer[2] |= 0x80;
            answer[3] = 0x80 | code;
            if let Some(found) = found {
                answer[7] = 1;
                answer.extend([0xc0, 0x0c, 0, 1, 0, 1, 0, 0, 0, 9, 0, 4]);
                answer.extend(found);
            }
            socket.send_to(&answer, from).await.unwrap();
        }
    });
    address
}

#[tokio::test]
async fn an_address_is_found_though_the_question_for_ipv6_fails() {
    let found: IpAddr = "192.0.2.7".parse().unwrap();
    let good = serving((0, Some([192, 0, 2, 7])), 2).await;
    assert_eq!(lookup(&[good], "a.example.org").await, Ok(vec![found]));
    // Where neither has an address, another server may.
    let none = serving((0, None), 2).await;
    assert_eq!(lookup(&[none, good], "a.example.org").await, Ok(vec![found]));
    assert!(lookup(&[none], "a.example.org").await.is_err());
    assert_eq!(lookup(&[serving((3, None), 3).await], "a.example.org").await, Ok(Vec::new()));
}
