//! What is slow to emulate waits, and nobody waits for it.

use super::*;

fn emulator() -> Emulator {
    Emulator::new(Screen::new(300, 100), Arc::new(Semaphore::new(1)))
}

/// Two and a half seconds of work on a fast machine, in one piece of what a pty gives.
fn hostile() -> [Bytes; 2] {
    let repeated = [b"x".as_slice(), &b"\x1b[65535b".repeat(2000)].concat();
    [repeated.into(), b"\x1bc".repeat(8000).into()]
}

#[tokio::test]
async fn a_turn_ends_long_before_hostile_output_does_and_a_rest_follows() {
    for output in hostile() {
        let (mut emulator, all) = (emulator(), output.len());
        emulator.take(output);
        emulator.go_on().await;
        let left = emulator.waiting.len();
        assert!(left > all / 2 && left < all, "{left} of {all}");
        assert!(emulator.is_busy() && emulator.rests_until > Instant::now());
    }
}

/// On a runtime of one thread nothing else would go on if the work were done there.
#[tokio::test]
async fn others_go_on_while_it_works() {
    let mut emulator = emulator();
    let [output, _] = hostile();
    emulator.take(output);
    let turn = emulator.go_on();
    let mut turn = std::pin::pin!(turn);
    let first = tokio::time::timeout(Duration::ZERO, &mut turn).await;
    assert!(first.is_err(), "it does not work within the poll");
    turn.await;
}

#[tokio::test]
async fn ordinary_output_is_shown_whole() {
    let mut emulator = emulator();
    emulator.take(Bytes::from_static(b"hello \x1b[1mthere\x1b[0m"));
    while emulator.is_busy() {
        emulator.rested().await;
        emulator.go_on().await;
    }
    let update = emulator.update().await.unwrap();
    assert!(update.contains("hello ") && update.contains("there"), "{update}");
    assert_eq!(emulator.update().await, None);
}
