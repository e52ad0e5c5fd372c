use super::*;

fn event(length: usize) -> FilesystemEvent {
    FilesystemEvent { name: "n".repeat(length), ..FilesystemEvent::default() }
}

#[test]
fn all_watches_of_a_sandbox_share_one_bound() {
    let of_sandbox = Arc::<AtomicUsize>::default();
    let news = || News::new(Arc::clone(&of_sandbox));
    let (mut first, mut second) = (news(), news());
    assert!(first.keep(event(MOST_BYTES / 2)));
    assert!(!second.keep(event(MOST_BYTES / 2)), "the other has it");
    second.take();
    assert_eq!(first.take().len(), 1);
    assert!(second.keep(event(MOST_BYTES / 2)));
    drop((first, second));
    assert_eq!(of_sandbox.load(Ordering::Relaxed), 0);
}

#[test]
fn many_small_events_are_bounded_too() {
    let mut news = News::new(Arc::default());
    let kept = (0..=MOST_KEPT).take_while(|_| news.keep(event(1))).count();
    assert!(kept <= MOST_KEPT && kept > 1000, "{kept}");
}
