//! Held until decided, timed out or taken away; never more than there is room for.

use super::super::expression::sample;
use super::*;

const LONG: Duration = Duration::from_secs(600);

fn asked_by(owner: &str) -> Arc<Facts> {
    let mut facts = sample();
    owner.clone_into(&mut facts.key.owner);
    Arc::new(facts)
}

fn ask(
    board: &Board,
    owner: &str,
    most: usize,
    time: Duration,
) -> tokio::task::JoinHandle<Result<Option<PersonSaid>, NoRoom>> {
    let (board, facts) = (board.clone(), asked_by(owner));
    tokio::spawn(async move { board.ask(facts, DecidedBy::Default, None, most, time).await })
}

async fn first_id(board: &Board) -> String {
    board.change_after(None).await;
    board.list().0[0].id().to_owned()
}

fn said(approved: bool) -> PersonSaid {
    PersonSaid { by: Decider::Master, approved, reason: Some("because".to_owned()) }
}

#[tokio::test]
async fn a_decision_reaches_whoever_asked_and_is_final() {
    for (approved, ended) in [(true, HeldEnd::Approved), (false, HeldEnd::Denied)] {
        let board = Board::default();
        let waiting = ask(&board, "ann", 10, LONG);
        let id = first_id(&board).await;
        assert_eq!(board.decide("appr_other", said(true)).unwrap_err(), CannotDecide::NoSuch);
        assert_eq!(board.decide(&id, said(approved)).unwrap().id(), id);
        assert_eq!(board.decide(&id, said(true)).unwrap_err(), CannotDecide::Over(ended));
        assert_eq!(waiting.await.unwrap(), Ok(Some(said(approved))));
        assert!(board.list().0.is_empty());
        assert_eq!(board.decide(&id, said(false)).unwrap_err(), CannotDecide::Over(ended));
    }
}

#[tokio::test]
async fn time_runs_out() {
    let board = Board::default();
    let waiting = ask(&board, "ann", 10, Duration::from_secs(1));
    let id = first_id(&board).await;
    assert_eq!(waiting.await.unwrap(), Ok(None));
    assert_eq!(board.decide(&id, said(true)).unwrap_err(), CannotDecide::Over(HeldEnd::TimedOut));
}

#[tokio::test]
async fn whoever_leaves_takes_the_question_away() {
    let board = Board::default();
    let waiting = ask(&board, "ann", 10, LONG);
    let id = first_id(&board).await;
    let version = board.list().1;
    waiting.abort();
    board.change_after(Some(version)).await;
    assert!(board.list().0.is_empty());
    assert_eq!(board.decide(&id, said(true)).unwrap_err(), CannotDecide::Over(HeldEnd::Withdrawn));
}

#[tokio::test]
async fn there_is_room_for_so_many_and_for_a_quarter_of_one_owner() {
    let board = Board::default();
    let mut waiting = Vec::new();
    for owner in ["ann", "ann", "bob"] {
        let version = board.list().1;
        waiting.push(ask(&board, owner, 8, LONG));
        board.change_after(Some(version)).await;
    }
    assert_eq!(ask(&board, "eve", 3, LONG).await.unwrap(), Err(NoRoom), "all places are taken");
    assert_eq!(ask(&board, "ann", 8, LONG).await.unwrap(), Err(NoRoom), "hers are taken");
    assert_eq!(board.list().0.len(), 3);
}

#[tokio::test]
async fn what_is_held_is_bounded_in_bytes_too() {
    let board = Board::default();
    let hold = |owner: &str, bytes: usize| {
        let mut facts = Facts::clone(&asked_by(owner));
        facts.code = "x".repeat(bytes);
        let held =
            Held { facts: Arc::new(facts), expires_at: 0, asked_by: DecidedBy::Default, asked_reason: None };
        board.hold(held, 100)
    };
    let quarter = MOST_BYTES / SHARE;
    let first = hold("ann", quarter).unwrap();
    assert!(hold("ann", 1).is_err(), "her share is used up");
    let others: Vec<_> = ["b", "c", "d"].into_iter().map(|owner| hold(owner, quarter).unwrap()).collect();
    assert!(hold("eve", 1).is_err(), "there is no more");
    drop(first);
    assert!(hold("eve", 1).is_ok());
    drop(others);
}
