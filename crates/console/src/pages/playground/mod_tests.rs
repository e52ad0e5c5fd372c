//! The page has what one needs to begin.

use serde_json::json;

use super::*;
use crate::testing::TestConsole;

#[tokio::test]
async fn the_example_is_there_and_so_is_loopback() {
    let test = TestConsole::new(None).await;
    let page = test.get(PATH, "").await;
    assert!(page.body.contains("<option value=\"loopback\" selected"), "{}", page.body);
    assert!(page.body.contains("```python"));
    assert!(!page.body.contains("<script>"));
}

#[test]
fn names_are_taken_out_of_a_list() {
    assert_eq!(ids(&json!({"data": [{"id": "a"}, {}, {"id": 3}, {"id": "b"}]})), ["a", "b"]);
    assert_eq!(ids(&json!("nothing")), Vec::<String>::new());
}
