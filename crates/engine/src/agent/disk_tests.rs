use super::*;

const LIMIT: u64 = 100;

fn is_over(usage: DiskUsage) -> bool {
    usage.bytes > LIMIT || usage.entries > LIMIT
}

fn bytes(bytes: u64) -> DiskUsage {
    DiskUsage { bytes, entries: 0 }
}

#[test]
fn what_is_taken_at_once_comes_out_of_one_account() {
    let account = Account::default();
    account.enter();
    account.enter();
    assert!(!account.take(bytes(1), is_over), "nobody has looked at the disk yet");
    account.saw(bytes(40), account.taken());
    assert!(account.take(bytes(40), is_over));
    assert!(!account.take(bytes(40), is_over), "the first has taken it");
    assert!(account.take(bytes(20), is_over));
    assert!(!account.take(DiskUsage { bytes: 0, entries: LIMIT + 1 }, is_over));
    account.leave();
    assert!(account.is_busy());
    account.leave();
    assert!(!account.is_busy());
    assert!(!account.take(bytes(1), is_over), "it is looked at again");
}

#[test]
fn over_the_limit_nothing_is_taken() {
    let account = Account::default();
    account.enter();
    account.saw(bytes(LIMIT + 1), account.taken());
    assert!(!account.take(bytes(0), is_over));
}

#[test]
fn what_is_taken_while_somebody_looks_still_counts() {
    let account = Account::default();
    account.enter();
    account.enter();
    let (one, other) = (account.taken(), account.taken());
    account.saw(bytes(0), one);
    assert!(account.take(bytes(80), is_over));
    account.saw(bytes(0), other);
    assert!(!account.take(bytes(80), is_over), "the second look began before the first took it");
    let later = account.taken();
    assert!(account.take(bytes(10), is_over));
    account.saw(bytes(80), later);
    account.saw(bytes(0), other);
    assert!(!account.take(bytes(20), is_over), "a look that took longer says nothing new");
    assert!(account.take(bytes(10), is_over));
}

#[test]
fn places_are_whole_names() {
    let on_disk = |path: &str| is_on_disk(&SandboxPath::parse(path).unwrap());
    assert!(on_disk("/home/user/a") && on_disk("/mnt/data") && on_disk("/mnt/data/b"));
    assert!(!on_disk("/home/user2/a") && !on_disk("/tmp/home/user"));
}
