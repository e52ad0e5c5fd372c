//! Which context a request means.

use std::sync::Barrier;

use super::*;
use crate::remote::double::{Account, spec};
use crate::remote::record::Record;
use crate::remote::sandbox::RemoteSandbox;
use crate::remote::shared::Shared;

#[test]
fn first_executions_at_the_same_time_share_one_context() {
    let home = tempfile::tempdir().unwrap();
    let shared = Arc::new(Shared::new(Arc::new(Account::default()), Account::config("far", home.path())));
    let id = sandgate_core::SandboxId::random();
    let kept = shared.new_kept(&id, &spec().limits);
    let sandbox = RemoteSandbox::new(shared, id, spec(), kept, &Record::default());
    for _ in 0..2000 {
        let begin = Barrier::new(4);
        let first = || {
            begin.wait();
            sandbox.0.meant(&ExecuteRequest::default()).map(drop)
        };
        std::thread::scope(|threads| {
            for other in [(); 4].map(|()| threads.spawn(first)) {
                other.join().unwrap().unwrap();
            }
        });
        sandbox.0.lock_contexts().clear();
    }
}
