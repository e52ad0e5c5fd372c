//! What passes of what code says, and what it costs the gate.

use sandgate_core::Event;
use tokio::sync::mpsc;

use super::super::double::Account;
use super::*;
use crate::{NetworkWish, Provider, Wish};

const LIMIT: u64 = 1 << 20;

struct Run {
    id: SandboxId,
    out: Outgoing,
    events: mpsc::Receiver<Event>,
    place: Arc<dyn Place>,
    account: Account,
}

async fn run() -> Run {
    let account = Account::default();
    let wish = Wish {
        memory_bytes: None,
        cpu_millis: None,
        disk_bytes: None,
        network: NetworkWish::Nothing,
        life: Duration::from_secs(60),
        env: Vec::new(),
        metadata: std::collections::BTreeMap::new(),
    };
    let place = account.create(&wish).await.unwrap();
    let (sender, events) = mpsc::channel(100_000);
    Run { id: SandboxId::random(), out: Outgoing::new(sender), events, place, account }
}

impl Run {
    fn passing(&mut self, before: u64) -> Passing<'_> {
        let counts = Counts { own: 1, before, taught: 1 };
        let Self { id, out, place, .. } = self;
        Passing::new(id, Arc::clone(place), Some(&Channel::with("abc")), out, LIMIT, counts)
    }

    fn told(&mut self) -> Vec<Event> {
        std::iter::from_fn(|| self.events.try_recv().ok()).collect()
    }
}

fn later() -> Instant {
    Instant::now() + Duration::from_secs(60)
}

fn error(name: &str, value: String) -> Said {
    Said::Raised(CodeError { name: name.to_owned(), value, traceback: vec!["line".to_owned()] })
}

#[tokio::test]
async fn errors_count_as_output_and_the_first_is_told() {
    let mut run = run().await;
    let mut passing = run.passing(0);
    for _ in 0..1000 {
        passing.pass_on(error(&"N".repeat(9000), "v".repeat(9 << 20)), later()).await;
    }
    passing.finish();
    let bytes: usize = run
        .told()
        .iter()
        .map(|event| match event {
            Event::Error(error) => error.name.len() + error.value.len(),
            _ => 0,
        })
        .sum();
    assert!(bytes as u64 <= LIMIT, "{bytes}");
    let mut passing = run.passing(0);
    passing.pass_on(Said::Stdout("x".repeat(2 << 20)), later()).await;
    passing.pass_on(error("ValueError", "no".to_owned()), later()).await;
    assert!(
        run.told().iter().any(|event| matches!(event, Event::Error(error) if error.name == "ValueError"))
    );
}

#[tokio::test]
async fn files_that_code_names_are_asked_for_a_bounded_number_of_times() {
    let mut run = run().await;
    let marks = "\u{1e}abcdf/tmp/.sandgate-abc/none\u{1e}".repeat(5000);
    let mut passing = run.passing(0);
    passing.pass_on(Said::Stdout(marks), later()).await;
    passing.finish();
    assert_eq!(run.account.calls("read"), MOST_FETCHED as usize);
    let notes: Vec<_> = run.told();
    let [Event::Note { text, .. }] = &notes[..] else { panic!("{notes:?}") };
    assert!(text.starts_with("5000 of the displays"), "{text}");
}

#[tokio::test]
async fn an_interpreter_that_counts_from_less_is_another() {
    for (before, said, is_renewed) in
        [(0, 1, false), (2, 3, false), (2, 2, false), (5, 2, true), (2, 1, true)]
    {
        let mut run = run().await;
        let mut passing = run.passing(before);
        passing.pass_on(Said::Count(said), later()).await;
        assert_eq!(passing.is_renewed(), is_renewed, "{before} {said}");
    }
}
