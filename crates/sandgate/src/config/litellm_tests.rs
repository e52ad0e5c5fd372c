//! LiteLLM's file is understood; what is not is named.

use super::super::settings;
use super::super::settings::Settings;

const BLOG: &str = "\
model_list:
  - model_name: gpt-5
    litellm_params:
      model: openai/gpt-5
      api_key: sk-operator

sandbox_tools:
  - sandbox_tool_name: my-sandbox
    litellm_params:
      sandbox_provider: embedded
      api_key: os.environ/SANDGATE_NO_SUCH

litellm_settings:
  callbacks: [\"code_interpreter_interception\"]
  code_interpreter_interception_params:
    enabled: true
    sandbox_tool_name: my-sandbox
";

fn load(yaml: &str) -> Result<Settings, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config.yaml");
    std::fs::write(&path, yaml).unwrap();
    let before = format!("{}/", folder.path().display());
    let clean = |text: String| text.replace(&before, "");
    settings(Some(&path), None).map_err(|error| clean(error.to_string())).map(|mut settings| {
        settings.warnings = settings.warnings.into_iter().map(clean).collect();
        settings
    })
}

fn changed(from: &str, to: &str) -> String {
    assert!(BLOG.contains(from), "{from}");
    BLOG.replace(from, to)
}

#[test]
fn the_example_of_the_blog_is_understood_without_a_warning() {
    let settings = load(BLOG).unwrap();
    assert!(settings.warnings.is_empty(), "{:?}", settings.warnings);
    assert_eq!(
        settings.upstreams.said,
        ["model 'gpt-5' comes from https://api.openai.com/v1 (Responses), with the configured key"]
    );
}

#[test]
fn a_remote_sandbox_that_is_named_is_where_code_runs() {
    let keyed = changed("os.environ/SANDGATE_NO_SUCH", "sk-sandbox");
    let e2b = load(&keyed.replace("provider: embedded", "provider: e2b")).unwrap();
    assert_eq!((e2b.backends.default.as_str(), e2b.warnings.len()), ("my-sandbox", 0), "{:?}", e2b.warnings);
    assert_eq!(
        e2b.backends.said,
        [
            "backend 'my-sandbox' is E2B at e2b.app, with no network, and nothing in its place",
            "code runs on 'my-sandbox' unless another backend is named"
        ]
    );
    let base = "provider: opensandbox\n      api_base: http://127.0.0.1:8080/v1";
    let opensandbox = load(&keyed.replace("provider: embedded", base)).unwrap();
    assert!(opensandbox.backends.said[0].contains("OpenSandbox at http://127.0.0.1:8080/v1"));
    assert!(opensandbox.warnings.is_empty(), "{:?}", opensandbox.warnings);
    let said = load(&keyed.replace("provider: embedded", "provider: opensandbox")).unwrap_err();
    assert!(said.contains("sandbox_tools[0].litellm_params.api_base: this key is missing"), "{said}");
    let said = load(&keyed.replace("provider: embedded", "provider: docker")).unwrap_err();
    assert!(said.contains("'docker' is not known"), "{said}");
}

#[test]
fn a_remote_sandbox_that_nobody_names_is_not_used() {
    let unnamed =
        changed("provider: embedded", "provider: e2b").replace("    sandbox_tool_name: my-sandbox\n", "");
    let settings = load(&unnamed).unwrap();
    assert_eq!(settings.backends.default, "embedded");
    assert!(settings.warnings[0].contains("'e2b' is not used"), "{:?}", settings.warnings);
    let said =
        load(&changed("    sandbox_tool_name: my-sandbox\n", "    sandbox_tool_name: other\n")).unwrap_err();
    assert!(said.contains("there is no 'other' in sandbox_tools"), "{said}");
    let said = load(&changed("enabled: true", "enabled: false")).unwrap_err();
    assert!(said.starts_with("config.yaml:16:14: ") && said.contains("somebody else's container"), "{said}");
}

#[test]
fn models_are_mapped_grouped_and_limited() {
    let yaml = "\
model_list:
  - {model_name: a, litellm_params: {model: openai/a-1, api_base: 'http://127.0.0.1:1/v1', max_agentic_loops: '7'}}
  - {model_name: a, litellm_params: {model: deepseek/chat, api_key: k, timeout: 5}, model_info: {id: x}}
  - {model_name: b, litellm_params: {model: mystery/one, api_base: 'http://127.0.0.1:2/v1', api_key: k}}
  - {model_name: c, litellm_params: {model: mystery/two}}
  - {model_name: 'all/*', litellm_params: {model: 'openai/*', api_key: k}}
litellm_settings: {callbacks: code_interpreter_interception, request_timeout: 30}
";
    let settings = load(yaml).unwrap();
    let said = settings.upstreams.said.join("\n");
    assert!(said.contains("model 'a' comes as 'a-1' from http://127.0.0.1:1/v1 (Responses)"), "{said}");
    assert!(
        said.contains("model 'a' comes as 'chat' from https://api.deepseek.com/v1 (Chat Completions)"),
        "{said}"
    );
    assert!(
        said.contains("model 'b' comes as 'one' from http://127.0.0.1:2/v1 (Chat Completions)"),
        "{said}"
    );
    assert!(said.contains("model 'all/*' comes as '*' from https://api.openai.com/v1"), "{said}");
    assert_eq!(settings.upstreams.said.len(), 4);
    assert_eq!(settings.warnings.len(), 2, "{:?}", settings.warnings);
    assert!(settings.warnings[0].starts_with("config.yaml:4:"), "{:?}", settings.warnings);
    assert!(settings.warnings[1].starts_with("config.yaml:5:"), "{:?}", settings.warnings);
}

#[test]
fn what_has_no_effect_is_named_once_each() {
    let more = "  drop_params: true\n  cache: true\ngeneral_settings: {master_key: sk-m, database_url: x}\n\
                router_settings: {routing_strategy: simple-shuffle}\nguardrails: []\n";
    let yaml = format!("{BLOG}{more}")
        .replace("[\"code_interpreter_interception\"]", "[\"code_interpreter_interception\", \"langfuse\"]");
    let settings = load(&yaml).unwrap();
    assert_eq!(settings.master_key.unwrap().expose(), "sk-m");
    let named = |key: &str| settings.warnings.iter().filter(|line| line.contains(key)).count();
    for key in [
        "drop_params",
        "litellm_settings.cache:",
        "database_url",
        "routing_strategy",
        "guardrails",
        "langfuse",
    ] {
        assert_eq!(named(key), 1, "{key}: {:?}", settings.warnings);
    }
    assert_eq!(settings.warnings.len(), 6);
    assert!(!format!("{:?}", settings.warnings).contains("sk-"));
}

#[test]
fn mistakes_have_their_place() {
    for (from, to, said) in [
        (
            "api_key: sk-operator",
            "api_key: os.environ/SANDGATE_NO_SUCH",
            "config.yaml:5:16: model_list[0].litellm_params.api_key: the variable SANDGATE_NO_SUCH is not set",
        ),
        (
            "model: openai/gpt-5",
            "model: [a]",
            "config.yaml:4:7: model_list[0].litellm_params.model: a text is wanted",
        ),
        (
            "  - model_name: gpt-5\n",
            "  - nome: gpt-5\n",
            "config.yaml:2:5: model_list[0].model_name: this key is missing",
        ),
        (
            "api_key: sk-operator",
            "max_agentic_loops: 0",
            "config.yaml:5:26: model_list[0].litellm_params.max_agentic_loops: a number",
        ),
        ("enabled: true", "enabled: 1", "config.yaml:16:14: "),
        ("    enabled: true\n", "    enabled: true\n    enabled: true\n", "config.yaml:17:5: "),
    ] {
        let problem = load(&changed(from, to)).unwrap_err();
        assert!(problem.starts_with(said), "{problem}");
    }
    assert!(load("model_list: []\n").unwrap_err().starts_with("config.yaml:1:"));
    let general = format!("{BLOG}general_settings: {{master_key: os.environ/SANDGATE_NO_SUCH}}\n");
    assert!(load(&general).unwrap_err().contains("general_settings.master_key: the variable"));
}

const AZURE: &str = "\
model_list:
  - model_name: a
    litellm_params: {model: azure/my-deployment, api_base: 'https://r.openai.azure.com/', api_key: k1, api_version: '2024-10-21'}
  - model_name: b
    litellm_params: {model: azure/responses/other, api_base: 'https://r.openai.azure.com/openai/deployments/x?api-version=1', api_key: k1}
  - model_name: c
    litellm_params: {model: azure/o_series/third, api_base: 'https://openai.example/way', api_key: k2}
litellm_settings:
  callbacks: [code_interpreter_interception]
";

#[test]
fn models_at_azure_are_asked_where_its_paths_are_openais() {
    let settings = load(AZURE).unwrap();
    assert!(settings.warnings.is_empty(), "{:?}", settings.warnings);
    let said = |model: &str, known_as: &str, place: &str| {
        format!(
            "model '{model}' comes as '{known_as}' from https://{place} (Responses), with the configured key"
        )
    };
    assert_eq!(
        settings.upstreams.said,
        [
            said("a", "my-deployment", "r.openai.azure.com/openai/v1"),
            said("b", "other", "r.openai.azure.com/openai/v1"),
            said("c", "third", "openai.example/way/openai/v1"),
        ]
    );
    // Without an address nobody knows where it is.
    let warned = load(&AZURE.replace(", api_base: 'https://openai.example/way'", "")).unwrap().warnings;
    assert!(warned.len() == 1 && warned[0].contains("the model 'c' is left out"), "{warned:?}");
    let error = load(&AZURE.replace("api_key: k2", "api_key: os.environ/SANDGATE_NO_SUCH")).unwrap_err();
    assert!(error.contains("api_key") && error.contains("SANDGATE_NO_SUCH is not set"), "{error}");
}

#[test]
fn variables_of_the_file_count_before_those_of_the_environment() {
    let with = |variables: &str| {
        format!(
            "{}environment_variables: {{{variables}}}\n",
            changed("sk-operator", "os.environ/SANDGATE_NO_SUCH")
        )
    };
    let error = load(&with("OTHER: x")).unwrap_err();
    assert!(error.contains("SANDGATE_NO_SUCH is not set"), "{error}");
    let settings = load(&with("SANDGATE_NO_SUCH: sk-operator, DATABASE_URL: secret-of-a-database")).unwrap();
    assert_eq!(settings.warnings.len(), 1, "{:?}", settings.warnings);
    let warned = &settings.warnings[0];
    assert!(warned.contains("environment_variables.DATABASE_URL") && !warned.contains("secret"), "{warned}");
    // One that nothing refers to by name, but that LiteLLM goes by.
    let yaml = with(
        "OPENAI_API_BASE: 'http://far.example/v1', SANDGATE_NO_SUCH: x, LITELLM_MASTER_KEY: sk-12345678",
    );
    let settings = load(&yaml).unwrap();
    assert!(settings.warnings.is_empty(), "{:?}", settings.warnings);
    assert!(settings.upstreams.said[0].contains("http://far.example/v1"), "{:?}", settings.upstreams.said);
    let error = load(&with("A: [1]")).unwrap_err();
    assert!(error.contains("environment_variables.A"), "{error}");
}
