//! Figures out of the text that Prometheus reads.

use sandgate_gate::{Metrics, Now};

use super::*;

#[test]
fn rates_are_what_came_between_two_samples() {
    let metrics = Metrics::default();
    let from = Sample::read(&metrics.text(&Now::default()));
    for _ in 0..10 {
        metrics.limit_hit("memory");
    }
    let now = Now { sandboxes: 3, approvals_held: 2, ..Now::default() };
    let to = Sample::read(&metrics.text(&now));
    let step = Step::between(&from, &to, 5.0);
    assert!(step.limits.contains(&("memory".to_owned(), 10)), "{:?}", step.limits);
    assert!((step.sandboxes - 3.0).abs() < 0.01 && (step.held - 2.0).abs() < 0.01, "{step:?}");
    assert!(step.request_p95.is_nan() && step.requests.abs() < 0.01, "{step:?}");
}

#[test]
fn requests_of_this_console_are_not_counted() {
    let text = |count: u32| {
        format!(
            "sandgate_requests_total{{api=\"console\",status=\"2xx\",stream=\"false\"}} {count}\n\
             sandgate_requests_total{{api=\"execute\",status=\"2xx\",stream=\"false\"}} {count}\n\
             sandgate_requests_total{{api=\"execute\",status=\"5xx\",stream=\"false\"}} {count}\n\
             sandgate_requests_under_way 7\n# EOF\nnonsense\n"
        )
    };
    let step = Step::between(&Sample::read(&text(0)), &Sample::read(&text(10)), 5.0);
    assert!((step.requests - 4.0).abs() < 0.01 && (step.failed - 2.0).abs() < 0.01, "{step:?}");
    assert!((step.under_way - 7.0).abs() < 0.01, "{step:?}");
}

#[test]
fn a_sample_stays_small_however_many_models_there_are() {
    let text = |models: usize| -> String {
        let one = |model: usize| {
            let bucket = |le: &str| {
                format!("sandgate_model_turn_duration_seconds_bucket{{model=\"m{model}\",le=\"{le}\"}} 1\n")
            };
            let tokens = format!("sandgate_tokens_total{{model=\"m{model}\",kind=\"input\"}} 2\n");
            [bucket("0.5"), bucket("+Inf"), tokens].concat()
        };
        (0..models).map(one).collect()
    };
    let (few, many) = (Sample::read(&text(1)), Sample::read(&text(1000)));
    assert_eq!(few.turn_times.len(), many.turn_times.len());
    assert!((many.tokens - 2000.0).abs() < 0.01 && (many.turn_times[0].1 - 1000.0).abs() < 0.01, "{many:?}");
}

#[test]
fn quantiles_lie_between_their_bounds() {
    let text = |one: u32, two: u32| {
        format!(
            "sandgate_execution_duration_seconds_bucket{{door=\"execute\",le=\"0.1\"}} {one}\n\
             sandgate_execution_duration_seconds_bucket{{door=\"execute\",le=\"1.0\"}} {two}\n\
             sandgate_execution_duration_seconds_bucket{{door=\"execute\",le=\"+Inf\"}} {two}\n"
        )
    };
    let step = Step::between(&Sample::read(&text(5, 5)), &Sample::read(&text(15, 25)), 5.0);
    assert!((step.execution_p50 - 0.1).abs() < 0.001, "{step:?}");
    assert!((step.execution_p95 - 0.91).abs() < 0.001, "{step:?}");
}
