//! Bars hold at their very figure, and not when nothing was measured.

use super::bars;
use crate::bench::samples::Samples;

#[test]
fn nothing_measured_is_nothing_held() {
    let bars = bars(&Samples::default());
    assert_eq!(bars.len(), 14);
    assert!(bars.iter().all(|bar| !bar.held));
}

#[test]
fn the_figure_itself_holds_and_a_little_more_does_not() {
    for (memory, errors, held) in [(60.0, 0.0, [true, true]), (60.1, 1.0, [false, false])] {
        let mut samples = Samples::default();
        samples.add("gate_crowd_peak_mib", memory);
        samples.add("crowd_fresh_gate_errors", 0.0);
        samples.add("crowd_gate_errors", errors);
        let bars = bars(&samples);
        assert_eq!([bars[12].held, bars[13].held], held);
    }
}
