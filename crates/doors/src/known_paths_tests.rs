//! Which paths are others in disguise, and which are not.

use axum::body::Body;
use axum::extract::Request;

use super::{ModelInPath, led};

fn leads_to(path: &str) -> (String, Option<String>) {
    let request = led(Request::builder().uri(path).body(Body::empty()).unwrap());
    let model = request.extensions().get::<ModelInPath>().map(|ModelInPath(model)| model.clone());
    (request.uri().to_string(), model)
}

#[test]
fn paths_of_openai_are_known_without_their_version() {
    for (path, meant) in [
        ("/responses", "/v1/responses"),
        (
            "/responses/resp_1/input_items?limit=3&after=%20",
            "/v1/responses/resp_1/input_items?limit=3&after=%20",
        ),
        ("/chat/completions", "/v1/chat/completions"),
        ("/models/a%2Fb", "/v1/models/a%2Fb"),
        ("/containers/cntr_1/files", "/v1/containers/cntr_1/files"),
        ("/files", "/v1/files"),
        ("/openai/v1/responses", "/v1/responses"),
        ("/openai/responses?api-version=preview", "/v1/responses?api-version=preview"),
        ("/openai/v1/files/file-1/content", "/v1/files/file-1/content"),
        ("/health/liveliness", "/health"),
        ("/health/liveness", "/health"),
        ("/health/readiness", "/health"),
    ] {
        assert_eq!(leads_to(path), (meant.to_owned(), None), "{path}");
    }
}

#[test]
fn a_deployment_is_a_model() {
    let to = |path: &str, model: &str| (path.to_owned(), Some(model.to_owned()));
    for (path, meant) in [
        (
            "/openai/deployments/gpt-5/chat/completions?api-version=1",
            to("/v1/chat/completions?api-version=1", "gpt-5"),
        ),
        ("/openai/deployments/team/gpt-5/completions", to("/v1/completions", "team/gpt-5")),
        ("/openai/deployments/team%2Fgpt%205/embeddings", to("/v1/embeddings", "team/gpt 5")),
        ("/engines/small/chat/completions", to("/v1/chat/completions", "small")),
    ] {
        assert_eq!(leads_to(path), meant, "{path}");
    }
    for path in [
        "/openai/deployments/chat/completions",
        "/openai/deployments//chat/completions",
        "/openai/deployments/a%zz/embeddings",
        "/openai/deployments/a%2/embeddings",
        "/openai/deployments/a%ff/embeddings",
        "/openai/deployments/a/files",
    ] {
        let (led_to, model) = leads_to(path);
        assert!(model.as_deref().is_none_or(|model| model == "chat"), "{path}: {led_to} {model:?}");
    }
}

#[test]
fn the_words_of_other_doors_are_left_alone() {
    for path in [
        "/",
        "/v1/responses",
        "/v1",
        "/sandboxes/a/proxy/80/files",
        "/v1/sandboxes",
        "/snapshots",
        "/console/containers",
        "/e2b/files",
        "/metrics",
        "/metrics/events",
        "/health",
        "/health/backends",
        "/health/readiness/x",
        "/execute",
        "/admin/keys",
        "/responsesx",
        "//responses",
        "/openai",
        "/openai/",
        "/openai/v1",
        "/openai/v1/admin/keys",
        "/openai/v1x/responses",
        "/openaix/responses",
        "/openai/console",
    ] {
        assert_eq!(leads_to(path), (path.to_owned(), None), "{path}");
    }
}
