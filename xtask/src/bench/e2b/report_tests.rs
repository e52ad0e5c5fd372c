use super::*;
use crate::bench::pairs::added_series;

#[test]
fn a_bar_holds_at_its_very_figure_and_not_when_nothing_was_measured() {
    assert!(bars(&Samples::default()).iter().all(|bar| !bar.held));
    for (added, held) in [(3.0, true), (3.1, false)] {
        let mut samples = Samples::default();
        samples.add(&added_series("warm"), added);
        assert_eq!(bars(&samples)[1].held, held);
    }
}
