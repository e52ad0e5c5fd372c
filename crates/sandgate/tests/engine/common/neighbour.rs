//! Another sandbox that must not notice what happens next door.

use std::cell::Cell;
use std::time::Duration;

use super::sandbox;

/// Between two questions, so that asking is not itself the load.
const PAUSE: Duration = Duration::from_millis(20);

/// Runs `attack` while a neighbour computes; every question it gets must be answered, and rightly.
pub(crate) async fn beside_neighbour<T>(attack: impl Future<Output = T>) -> T {
    let neighbour = sandbox().await;
    assert_eq!(neighbour.value("n = 0\n6*7").await, "42");
    let over = Cell::new(false);
    let attack = async {
        let result = Box::pin(attack).await;
        over.set(true);
        result
    };
    let asking = async {
        let mut asked = 0;
        while !over.get() {
            assert_eq!(neighbour.value("n += 1\n6*7").await, "42");
            asked += 1;
            tokio::time::sleep(PAUSE).await;
        }
        asked
    };
    let (result, asked) = tokio::join!(attack, asking);
    assert_eq!(neighbour.value("n").await, asked.to_string(), "the neighbour kept its state");
    result
}
