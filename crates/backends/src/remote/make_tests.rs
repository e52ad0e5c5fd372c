//! A sandbox that is being made.

use super::*;
use crate::remote::double::{Account, made, run};

#[tokio::test]
async fn a_sandbox_lives_on_while_it_gets_its_files() {
    let (account, home) = (Account::default(), tempfile::tempdir().unwrap());
    let config = crate::RemoteConfig { life: Duration::from_secs(5), ..Account::config("far", home.path()) };
    let backend = crate::RemoteBackend::open(Arc::new(account.clone()), config).await.unwrap();
    let sandbox = made(&backend).await;
    run(&sandbox, "write /mnt/data/a one").await.unwrap();
    account.table().places.clear();
    account.hold("write");
    let running = tokio::spawn(async move { run(&sandbox, "say hi").await });
    while account.calls("write") == 0 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    assert_eq!(account.calls("extend"), 0);
    tokio::time::pause();
    // One file may take half a minute; its sandbox lives for five seconds.
    tokio::time::sleep(Duration::from_secs(20)).await;
    assert!(account.calls("extend") >= 3, "{}", account.calls("extend"));
    let before = account.calls("extend");
    account.release("write");
    assert_eq!(running.await.unwrap().unwrap().stdout, "hi");
    assert_eq!(account.calls("extend"), before + 1, "all its time is before it then");
}
