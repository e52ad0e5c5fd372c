//! LiteLLM's `model_list`: each deployment becomes a model of ours and the upstream it is on.

use std::collections::BTreeMap;

use serde_json::Value;

use super::errors::Problem;
use super::file::{Api, ConfigFile, ModelFile, UpstreamFile};
use super::key_path::KeyPath;
use super::secrets::{SecretText, set_variable};
use super::section::Section;

/// Where a provider is and in which variable its key stands, unless the file says otherwise. OpenAI alone
/// is asked in the Responses API; the others have Chat Completions in OpenAI's form.
const PROVIDERS: [(&str, &str, &str); 14] = [
    ("openai", "https://api.openai.com/v1", "OPENAI_API_KEY"),
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
        warnings: &mut Vec<Problem>,
    ) -> Result<Self, Problem> {
        let mut all = Self::default();
        let top = KeyPath::of("model_list");
        for (number, entry) in list.into_iter().enumerate() {
            all.read_entry(Section::new(top.index(number), entry)?, seconds, warnings)?;
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
        let Some(upstream) = upstream(&provider, &mut params, seconds)? else {
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
    // Says which API is asked in, which is what we do anyway.
    let model = if provider == OPENAI { model.strip_prefix("responses/").unwrap_or(model) } else { model };
    (provider, model.to_owned())
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
) -> Result<Option<UpstreamFile>, Problem> {
    let known = PROVIDERS.iter().find(|(name, ..)| *name == provider);
    let at = params.path.key("api_base");
    let url = match params.text("api_base")? {
        Some(text) => {
            let found = SecretText::new(text).find().map_err(|message| Problem::at(at, message))?;
            Some(found.expose().to_owned())
        }
        None => known.and_then(|(_, url, key)| {
            let set = base_variables(provider, key).into_iter().find_map(|name| set_variable(&name));
            set.or_else(|| Some((*url).to_owned()).filter(|url| !url.is_empty()))
        }),
    };
    let Some(url) = url else { return Ok(None) };
    let key = params.text("api_key")?.map(SecretText::new).or_else(|| {
        let variable = known.map(|(.., variable)| *variable)?;
        set_variable(variable).map(|_| SecretText::new(format!("env:{variable}")))
    });
    let own_seconds = params.number("timeout")?;
    let mut headers = BTreeMap::new();
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
        api: if provider == OPENAI { Api::Responses } else { Api::Chat },
        key,
        timeout_seconds,
        headers,
        origin: Some(params.path.clone()),
        ..UpstreamFile::default()
    }))
}
