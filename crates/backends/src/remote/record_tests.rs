//! What is written down, and what no longer is.

use super::*;

#[tokio::test]
async fn what_comes_after_the_end_of_a_sandbox_writes_down_nothing() {
    let home = tempfile::tempdir().unwrap();
    let (records, id) = (Records::new(home.path()), SandboxId::random());
    let record = Record { backend: "far".to_owned(), ..Record::default() };
    records.create(&id, &record).await.unwrap();
    assert_eq!(records.load(&id).await.unwrap(), Some(record.clone()));
    records.remove(&id).await.unwrap();
    records.save(&id, &record).await.unwrap();
    assert_eq!(records.all().await.unwrap(), []);
}

#[tokio::test]
async fn one_that_makes_no_sense_keeps_nobody_from_the_others() {
    let home = tempfile::tempdir().unwrap();
    let (records, [whole, torn]) = (Records::new(home.path()), [SandboxId::random(), SandboxId::random()]);
    let record = Record { backend: "far".to_owned(), ..Record::default() };
    records.create(&whole, &record).await.unwrap();
    records.create(&torn, &record).await.unwrap();
    std::fs::write(records.folder(&torn).join("place.json"), "{\"backend\":\"fa").unwrap();
    assert!(records.load(&torn).await.is_err());
    assert_eq!(records.all().await.unwrap(), [(whole, record)]);
}
