//! What is added is the difference of a round's medians, without the code's own time.

use super::{Round, added_series};
use crate::bench::gate::subjects::Subject;
use crate::bench::samples::Samples;

fn kept(case: &str) -> Option<f64> {
    let mut round = Round::new(0);
    for time in [1.0, 2.0, 9.0] {
        round.add("loop_0", Subject::Direct, time);
        round.add("pass_small_0", Subject::Direct, time);
        round.add("loop_0", Subject::Gate, time + 3.0);
        round.add("loop_0_fresh", Subject::Gate, time + 5.0);
        round.add("loop_0_fresh", Subject::LiteLlm, time + 50.0);
        round.add("pass_small_0", Subject::Gate, time + 1.0);
    }
    let mut samples = Samples::default();
    round.keep(Some(0.5), &mut samples);
    samples.median(case)
}

#[test]
fn the_direct_way_and_the_code_are_taken_off() {
    assert_eq!(kept(&added_series("pass_small_0", Subject::Gate)), Some(1.0));
    assert_eq!(kept(&added_series("loop_0", Subject::Gate)), Some(2.5));
    assert_eq!(kept(&added_series("loop_0_fresh", Subject::Gate)), Some(4.5));
}

#[test]
fn who_runs_no_code_has_none_taken_off() {
    assert_eq!(kept(&added_series("loop_0_fresh", Subject::LiteLlm)), Some(50.0));
}
