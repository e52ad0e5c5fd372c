use super::*;

const WAYS: Ways = Ways { base: ("stub", "stub"), own: ("sandgate", "Sandgate") };

#[test]
fn what_is_added_is_the_difference_within_a_round() {
    let mut samples = Samples::default();
    keep_step(&mut samples, WAYS, "warm", &[1.0, 2.0, 9.0], &[3.0, 5.0, 6.0]);
    keep_step(&mut samples, WAYS, "warm", &[10.0], &[20.0]);
    let added = samples.summary(&added_series("warm")).unwrap();
    assert_eq!((added.count, added.min, added.max), (2, 3.0, 10.0));
    assert_eq!(samples.summary(&series("warm", "stub")).unwrap().count, 4);
    assert!(times(&samples, WAYS, &[("warm run", "warm")]).contains("| warm run |"));
}

#[test]
fn a_bar_holds_at_its_very_figure_and_not_when_nothing_was_measured() {
    let wanted = [("warm run: added, ms", "warm", 3.0)];
    assert!(bars(&Samples::default(), &wanted).iter().all(|bar| !bar.held));
    for (added, held) in [(3.0, true), (3.1, false)] {
        let mut samples = Samples::default();
        samples.add(&added_series("warm"), added);
        assert_eq!(bars(&samples, &wanted)[0].held, held);
    }
}
