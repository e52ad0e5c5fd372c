//! LiteLLM's `model_list`: each deployment becomes a model of ours and the upstream it is on.

use std::collections::BTreeMap;

use serde_json::Value;

use super::errors::Problem;
use super::file::{Api, ConfigFile, ModelFile, UpstreamFile};
use super::key_path::KeyPath;
use super::litellm_variables::Variables;
use super::secrets::SecretText;
use super::section::Section;

/// Where a provider is and in which variable its key stands, unless the file says otherwise. OpenAI's models, there
/// and at Azure, are asked in the Responses API; the others have Chat Completions in OpenAI's form.
const PROVIDERS: [(&str, &str, &str); 15] = [
    ("openai", "https://api.openai.com/v1", "OPENAI_API_KEY"),
    ("azure", "", "AZURE_API_KEY"),
    ("anthropic", "https://api.anthropic.com/v1", "ANTHROPIC_API_KEY"),
    ("cerebras", "https://api.cerebras.ai/v1", "CEREBRAS_API_KEY"),
    ("deepseek", "https://api.deepseek.com/v1", "DEEPSEEK_API_KEY"),
    ("fireworks_ai", "https://api.fireworks.ai/inference/v1", "FIREWORKS_AI_API_KEY"),
    ("gemini", "https://generativelanguage.googleapis.com/v1beta/openai", "GEMINI_API_KEY"),
    ("groq", "https://api.groq.com/openai/v1", "GROQ_API_KEY"),
    ("mistral", "https://api.mistral.ai/v1", "MISTRAL_API_KEY"),
    ("openrouter", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
    ("perplexity", "https://api.perplexity.ai", "PERPLEXITYAI_API_KEY"),
    ("together_ai", "https://api.together.xyz/v1", "TOGETHERAI_API_KEY"),
    ("xai", "https://api.x.ai/v1", "XAI_API_KEY"),
    ("ollama", "http://localhost:11434/v1", "OLLAMA_API_KEY"),
    ("hosted_vllm", "", "HOSTED_VLLM_API_KEY"),
];
const OPENAI: &str = "openai";
const AZURE: &str = "azure";
/// The header that Azure wants a key in.
pub(super) const API_KEY: &str = "api-key";
/// Before the name of a model: how LiteLLM is to treat it, which is nothing to the provider.
const HINTS: [&str; 3] = ["responses/", "o_series/", "gpt5_series/"];
/// Names for any server with OpenAI's API, which stands at `api_base`.
const ANY_SERVER: [&str; 5] = ["custom_openai", "litellm_proxy", "lm_studio", "openai_like", "vllm"];

#[derive(Debug, Default)]
pub(crate) struct Deployments {
    upstreams: BTreeMap<String, UpstreamFile>,
    models: Vec<ModelFile>,
    providers: Vec<String>,
}

impl Deployments {
    pub(crate) fn read(
        list: Vec<Value>,
        seconds: Option<f64>,
        variables: &Variables,
        warnings: &mut Vec<Problem>,
    ) -> Result<Self, Problem> {
        let mut all = Self::default();
        let top = KeyPath::of("model_list");
        for (number, entry) in list.into_iter().enumerate() {
            all.read_entry(Section::new(top.index(number), entry)?, seconds, variables, warnings)?;
        }
        if all.models.is_empty() {
            return Err(Problem::at(top, "there is no model in it that can be used here"));
        }
        Ok(all)
    }

    /// Of the models that are used.
    pub(crate) fn providers(&self) -> &[String] {
        &self.providers
    }

    pub(crate) fn put_into(self, file: &mut ConfigFile) {
        file.upstreams = self.upstreams;
        file.models = self.models;
    }

    fn read_entry(
        &mut self,
        mut entry: Section,
        seconds: Option<f64>,
        variables: &Variables,
        warnings: &mut Vec<Problem>,
    ) -> Result<(), Problem> {
        let name = entry.needed_text("model_name")?;
        let at = entry.path.key("litellm_params");
        let mut params =
            entry.section("litellm_params")?.ok_or_else(|| Problem::at(at, "this key is missing"))?;
        // What it is known by in LiteLLM's database and prices.
        entry.take("model_info");
        entry.end(warnings);

        let full = params.needed_text("model")?;
        let (provider, model) = split(&full, params.text("custom_llm_provider")?);
        let rounds = params.number("max_agentic_loops")?;
        let Some(upstream) = upstream(&provider, &mut params, seconds, variables)? else {
            let what = format!(
                "the provider '{provider}' is not known; without an 'api_base' of a server with OpenAI's API \
                 the model '{name}' is left out"
            );
            warnings.push(Problem::at(params.path.key("model"), what));
            return Ok(());
        };
        if !is_known(&provider) {
            let what = format!("the provider '{provider}' is not known; it is asked in Chat Completions");
            warnings.push(Problem::at(params.path.key("model"), what));
        }
        params.end(warnings);
        let upstream = self.shared(&provider, upstream);
        self.providers.push(provider);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "more rounds than fit are as good as the most"
        )]
        let rounds = rounds.map(|rounds| rounds as u32);
        let known_as = (model != name).then_some(model);
        self.models.push(ModelFile {
            name,
            upstream: Some(upstream),
            model: known_as,
            rounds,
            backend: None,
        });
        Ok(())
    }

    /// The name of an upstream that is the same, or of this one as a new one.
    fn shared(&mut self, provider: &str, upstream: UpstreamFile) -> String {
        let same = |other: &UpstreamFile| {
            other.url == upstream.url
                && other.key == upstream.key
                && other.api == upstream.api
                && other.timeout_seconds == upstream.timeout_seconds
                && other.headers == upstream.headers
        };
        if let Some((name, _)) = self.upstreams.iter().find(|(_, other)| same(other)) {
            return name.clone();
        }
        let name = match self.upstreams.contains_key(provider) {
            true => format!("{provider}-{}", self.upstreams.len() + 1),
            false => provider.to_owned(),
        };
        self.upstreams.insert(name.clone(), upstream);
        name
    }
}

fn is_known(provider: &str) -> bool {
    ANY_SERVER.contains(&provider) || PROVIDERS.iter().any(|(name, ..)| *name == provider)
}

/// `provider/model`; a bare name is OpenAI's.
fn split(full: &str, provider: Option<String>) -> (String, String) {
    let (provider, model) = match (provider, full.split_once('/')) {
        (Some(provider), Some((prefix, model))) if prefix == provider => (provider, model),
        (Some(provider), _) => (provider, full),
        (None, Some((provider, model))) => (provider.to_owned(), model),
        (None, None) => (OPENAI.to_owned(), full),
    };
    let hint = HINTS.into_iter().filter(|_| is_openais(&provider)).find(|hint| model.starts_with(hint));
    let model = hint.and_then(|hint| model.strip_prefix(hint)).unwrap_or(model);
    (provider, model.to_owned())
}

fn is_openais(provider: &str) -> bool {
    [OPENAI, AZURE].contains(&provider)
}

/// Files have the address of the resource, or that of one deployment of the older API. Both are below one that has
/// the same paths as OpenAI.
fn azure_url(url: &str) -> String {
    let url = url.split(['?', '#']).next().unwrap_or_default().trim_end_matches('/');
    let host = url.find("://").map_or(0, |at| at + 3);
    let path = url[host..].find('/').map_or(url.len(), |at| host + at);
    let before = format!("{}/", &url[path..]);
    let kept = before.find("/openai/").unwrap_or(url.len() - path);
    format!("{}/openai/v1", &url[..path + kept])
}

/// Where LiteLLM looks for a provider's address when the file does not say it: beside the variable of its key.
fn base_variables(provider: &str, key: &str) -> Vec<String> {
    let own = format!("{}_BASE", key.trim_end_matches("_KEY"));
    let usual = (provider == OPENAI).then(|| "OPENAI_BASE_URL".to_owned());
    usual.into_iter().chain([own]).collect()
}

/// None: nobody knows where this provider is.
fn upstream(
    provider: &str,
    params: &mut Section,
    seconds: Option<f64>,
    variables: &Variables,
) -> Result<Option<UpstreamFile>, Problem> {
    let known = PROVIDERS.iter().find(|(name, ..)| *name == provider);
    let at = params.path.key("api_base");
    let url = match params.text("api_base")? {
        Some(text) => {
            let found = SecretText::new(text).find().map_err(|message| Problem::at(at, message))?;
            Some(found.expose().to_owned())
        }
        None => known.and_then(|(_, url, key)| {
            let set = base_variables(provider, key).into_iter().find_map(|name| variables.get(&name));
            set.or_else(|| Some((*url).to_owned()).filter(|url| !url.is_empty()))
        }),
    };
    let Some(mut url) = url else { return Ok(None) };
    let key = params.text("api_key")?.map(SecretText::new);
    let mut key = key.or_else(|| variables.secret(known.map(|(.., variable)| *variable)?));
    let own_seconds = params.number("timeout")?;
    let mut headers = BTreeMap::new();
    if provider == AZURE {
        url = azure_url(&url);
        headers.extend(key.take().map(|key| (API_KEY.to_owned(), key)));
        // The address has its own.
        params.take("api_version");
    }
    if let Some(organization) = params.text("organization")? {
        headers.insert("openai-organization".to_owned(), SecretText::new(organization));
    }
    if let Some(Value::Object(extra)) = params.take("extra_headers") {
        let extra = extra.into_iter().filter_map(|(name, value)| Some((name, value.as_str()?.to_owned())));
        headers.extend(extra.map(|(name, value)| (name, SecretText::new(value))));
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "for ever is long enough")]
    let timeout_seconds = own_seconds.or(seconds).map(|seconds| seconds.ceil() as u64);
    Ok(Some(UpstreamFile {
        url: Some(url),
        api: if is_openais(provider) { Api::Responses } else { Api::Chat },
        key,
        timeout_seconds,
        headers,
        origin: Some(params.path.clone()),
        ..UpstreamFile::default()
    }))
}
