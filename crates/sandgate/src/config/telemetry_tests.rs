//! Where traces go, by the file and by the environment.

use super::*;

fn found(variables: &[(&str, &str)]) -> Option<String> {
    let get =
        |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
    from_environment(get)
}

#[test]
fn the_environment_is_read_as_the_specification_has_it() {
    assert_eq!(found(&[]), None);
    let base = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:4318/");
    assert_eq!(found(&[base]).as_deref(), Some("http://c:4318/v1/traces"));
    let traces = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://t/in");
    assert_eq!(found(&[base, traces]).as_deref(), Some("http://t/in"));
    assert_eq!(found(&[base, ("OTEL_SDK_DISABLED", "TRUE")]), None);
    assert_eq!(found(&[base, ("OTEL_TRACES_EXPORTER", "none")]), None);
    assert_eq!(found(&[("OTEL_EXPORTER_OTLP_ENDPOINT", " ")]), None);
}

#[test]
fn an_address_in_the_file_is_a_base_or_the_whole() {
    let traces = |text: &str| {
        let file = TelemetryFile { otlp_endpoint: Some(text.to_owned()), ..TelemetryFile::default() };
        file.check().map(|settings| settings.traces.unwrap()).map_err(|problem| format!("{problem:?}"))
    };
    assert_eq!(traces("http://c:4318").unwrap(), "http://c:4318/v1/traces");
    assert_eq!(traces("https://c/v1/traces").unwrap(), "https://c/v1/traces");
    for wrong in ["c:4318", "", "grpc://c", "http://"] {
        assert!(traces(wrong).unwrap_err().contains("otlp_endpoint"), "{wrong}");
    }
}
