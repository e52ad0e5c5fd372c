//! The backends of the configuration, checked, each with a client for its provider.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use sandgate_backends::daytona::Daytona;
use sandgate_backends::e2b::E2b;
use sandgate_backends::opensandbox::OpenSandbox;
use sandgate_backends::{
    BreakerConfig, DaytonaSettings, Deadlines, E2bSettings, EMBEDDED, NetworkWish, OpenSandboxSettings,
    Provider, ProviderError, Reach, RemoteConfig,
};
use sandgate_core::Secret;
use sandgate_outbound::Trust;

use super::backends_file::{BackendFile, BackendType, NetworkFile};
use super::errors::Problem;
use super::file::ConfigFile;
use super::key_path::KeyPath;
use crate::network_words;

/// What the clouds are called unless the file says otherwise.
const E2B_DOMAIN: &str = "e2b.app";
const E2B_TEMPLATE: &str = "code-interpreter-v1";
const OPENSANDBOX_IMAGE: &str = "opensandbox/code-interpreter:v1.1.0";
const OPENSANDBOX_ENTRYPOINT: &str = "/opt/code-interpreter/code-interpreter.sh";
/// Of that image, whatever registry and version it has.
const OPENSANDBOX_OWN: &str = "opensandbox/code-interpreter";
/// Does nothing, in every image. The provider refuses a sandbox without any.
const OPENSANDBOX_WAITING: [&str; 3] = ["tail", "-f", "/dev/null"];
const DAYTONA_URL: &str = "https://app.daytona.io/api";
const LEAST_LIFE: u64 = 60;
/// As labels of every provider take them.
const LONGEST_VALUE: usize = 63;

#[derive(Debug)]
pub(crate) struct BackendSettings {
    /// Where code runs for which nobody names a backend.
    pub(crate) default: String,
    /// Whether the engine of this program is started.
    pub(crate) embedded: bool,
    pub(crate) remotes: BTreeMap<String, RemoteSettings>,
    /// A line for each.
    pub(crate) said: Vec<String>,
    /// What may not work, as far as can be seen from here.
    pub(super) warnings: Vec<Problem>,
}

#[derive(Clone)]
pub(crate) struct RemoteSettings {
    pub(crate) provider: Arc<dyn Provider>,
    life: Duration,
    network: NetworkWish,
    env: Vec<(String, String)>,
    metadata: BTreeMap<String, String>,
    breaker: BreakerConfig,
    pub(crate) fallback: Vec<String>,
}

impl RemoteSettings {
    pub(crate) fn config(&self, name: &str, gate: &str, home: &Path) -> RemoteConfig {
        RemoteConfig {
            name: name.to_owned(),
            life: self.life,
            network: self.network.clone(),
            env: self.env.clone(),
            metadata: self.metadata.clone(),
            breaker: self.breaker,
            gate: gate.to_owned(),
            home: home.to_owned(),
        }
    }
}

impl fmt::Debug for RemoteSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemoteSettings").field("kind", &self.provider.kind()).finish_non_exhaustive()
    }
}

impl BackendSettings {
    pub(super) fn of(file: &ConfigFile) -> Result<Self, Problem> {
        let mut remotes = BTreeMap::new();
        let mut said = Vec::new();
        let mut warnings = Vec::new();
        for (name, backend) in &file.backends {
            let path = backend.origin.clone().unwrap_or_else(|| KeyPath::of("backends").key(name));
            check_name(name, &path)?;
            let one = One { file: backend, path };
            let remote = one.check()?;
            said.push(format!("backend '{name}' is {}", one.described()));
            warnings.extend(one.without_domain());
            remotes.insert(name.clone(), remote);
        }
        let names = || {
            let embedded = file.embedded.then_some(EMBEDDED);
            embedded.into_iter().chain(remotes.keys().map(String::as_str)).collect::<Vec<_>>().join(", ")
        };
        let is_known = |name: &str| remotes.contains_key(name) || (file.embedded && name == EMBEDDED);
        let known = |name: &str, path: KeyPath| match is_known(name) {
            true => Ok(()),
            false => Err(Problem::at(path, format!("there is no backend '{name}'; there is: {}", names()))),
        };
        let default = file.backend.clone().unwrap_or_else(|| EMBEDDED.to_owned());
        if !is_known(&default) && file.backend.is_none() {
            let message = "without the embedded engine 'backend' must say where code runs";
            return Err(Problem::at(KeyPath::of("embedded"), message));
        }
        known(&default, KeyPath::of("backend"))?;
        for (name, remote) in &remotes {
            for (number, fallback) in remote.fallback.iter().enumerate() {
                let path = KeyPath::of("backends").key(name).key("fallback").index(number);
                known(fallback, path.clone())?;
                if fallback == name {
                    return Err(Problem::at(path, "this is the backend itself"));
                }
            }
        }
        for (number, model) in file.models.iter().enumerate() {
            if let Some(backend) = &model.backend {
                known(backend, KeyPath::of("models").index(number).key("backend"))?;
            }
        }
        if !remotes.is_empty() {
            said.push(format!("code runs on '{default}' unless another backend is named"));
        }
        Ok(Self { default, embedded: file.embedded, remotes, said, warnings })
    }
}

fn check_name(name: &str, path: &KeyPath) -> Result<(), Problem> {
    let harmless = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if name == EMBEDDED {
        return Err(Problem::at(
            path.clone(),
            "this is the name of the engine in this program; take another",
        ));
    }
    // Its sandboxes carry it, and labels of every provider are so.
    let bare = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    let has_bare_ends = bare(name.chars().next()) && bare(name.chars().next_back());
    if !has_bare_ends || name.len() > LONGEST_VALUE || !name.chars().all(harmless) {
        let message = "a name of a backend has letters, digits, '-', '_' and '.' only, begins and ends with a letter or digit, 63 at most";
        return Err(Problem::at(path.clone(), message));
    }
    Ok(())
}

/// One of them, and where it stands.
struct One<'a> {
    file: &'a BackendFile,
    path: KeyPath,
}

impl One<'_> {
    fn problem(&self, key: &str, message: impl Into<String>) -> Problem {
        // Keys have other names where the file is another kind.
        let key = match (self.file.origin.is_some(), key) {
            (true, "url") => "api_base",
            (true, "key") => "api_key",
            (_, key) => key,
        };
        Problem::at(self.path.key(key), message)
    }

    fn check(&self) -> Result<RemoteSettings, Problem> {
        self.only_its_own()?;
        if self.file.life_seconds < LEAST_LIFE {
            return Err(self.problem("life_seconds", "must be at least 60"));
        }
        let mut env = Vec::new();
        for (name, value) in &self.file.env {
            let found =
                value.find().map_err(|message| Problem::at(self.path.key("env").key(name), message))?;
            env.push((name.clone(), found.expose().to_owned()));
        }
        self.check_metadata()?;
        let usual = BreakerConfig::default();
        let breaker = BreakerConfig {
            failures: self
                .not_zero("failures", self.file.failures.map(u64::from))?
                .map_or(usual.failures, |n| u32::try_from(n).unwrap_or(u32::MAX)),
            rest: self
                .not_zero("rest_seconds", self.file.rest_seconds)?
                .map_or(usual.rest, Duration::from_secs),
        };
        let network = match &self.file.network {
            NetworkFile::Disabled => NetworkWish::Nothing,
            NetworkFile::Open => NetworkWish::Everything,
            NetworkFile::Only(names) => {
                self.check_hosts(names)?;
                NetworkWish::Only(names.clone())
            }
        };
        Ok(RemoteSettings {
            provider: self.provider()?,
            life: Duration::from_secs(self.file.life_seconds),
            network,
            env,
            metadata: self.file.metadata.clone(),
            breaker,
            fallback: self.file.fallback.clone(),
        })
    }

    fn check_hosts(&self, names: &[String]) -> Result<(), Problem> {
        let path = self.path.key("network");
        let mut wrong = names
            .iter()
            .enumerate()
            .filter_map(|(number, name)| Some((number, network_words::check_host(name).err()?)));
        wrong.next().map_or(Ok(()), |(number, message)| Err(Problem::at(path.index(number), message)))
    }

    fn check_metadata(&self) -> Result<(), Problem> {
        let harmless = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        let fits = |text: &str| !text.is_empty() && text.len() <= LONGEST_VALUE && text.chars().all(harmless);
        for (key, value) in &self.file.metadata {
            let path = self.path.key("metadata").key(key);
            if !fits(key) || !fits(value) {
                let message = "a key and its value have letters, digits, '-', '_' and '.' only, 63 at most";
                return Err(Problem::at(path, message));
            }
            if key.starts_with("sandgate-") {
                return Err(Problem::at(path, "names that begin with 'sandgate-' are the gate's own"));
            }
        }
        Ok(())
    }

    fn not_zero(&self, key: &str, value: Option<u64>) -> Result<Option<u64>, Problem> {
        match value {
            Some(0) => Err(self.problem(key, "must be at least 1")),
            value => Ok(value),
        }
    }

    /// Keys of another provider are a mistake.
    fn only_its_own(&self) -> Result<(), Problem> {
        use BackendType::{Daytona, E2b, Opensandbox};
        let file = self.file;
        let keys: [(&str, bool, &[BackendType]); 10] = [
            ("domain", file.domain.is_some(), &[E2b]),
            ("sandbox_url", file.sandbox_url.is_some(), &[E2b]),
            ("template", file.template.is_some(), &[E2b]),
            ("image", file.image.is_some(), &[Opensandbox, Daytona]),
            ("entrypoint", !file.entrypoint.is_empty(), &[Opensandbox]),
            ("server_proxy", file.server_proxy, &[Opensandbox]),
            ("extensions", !file.extensions.is_empty(), &[Opensandbox]),
            ("snapshot", file.snapshot.is_some(), &[Daytona]),
            ("target", file.target.is_some(), &[Daytona]),
            ("organization", file.organization.is_some(), &[Daytona]),
        ];
        match keys.iter().find(|(_, is_set, whose)| *is_set && !whose.contains(&file.r#type)) {
            Some((key, ..)) => Err(self.problem(key, format!("{} has no such thing", self.kind()))),
            None => Ok(()),
        }
    }

    /// For E2B of one's own: where its sandboxes are is said here, or by its name, or else by the server alone, which
    /// most do not.
    fn without_domain(&self) -> Option<Problem> {
        let file = self.file;
        let url = file.url.as_ref().filter(|_| file.r#type == BackendType::E2b)?;
        let is_said = file.domain.is_some() || file.sandbox_url.is_some();
        let host = url.split_once("://").map_or(url.as_str(), |(_, rest)| rest);
        let what = "without 'domain' or 'sandbox_url' code runs only if this server itself says a domain for \
                    each of its sandboxes";
        (!is_said && !host.starts_with("api.")).then(|| self.problem("url", what))
    }

    fn kind(&self) -> &'static str {
        match self.file.r#type {
            BackendType::E2b => "E2B",
            BackendType::Opensandbox => "OpenSandbox",
            BackendType::Daytona => "Daytona",
        }
    }

    /// Without a secret.
    fn described(&self) -> String {
        let file = self.file;
        let place = match (&file.url, file.r#type) {
            (Some(url), _) => url.split('?').next().unwrap_or_default().to_owned(),
            (None, BackendType::E2b) => file.domain.clone().unwrap_or_else(|| E2B_DOMAIN.to_owned()),
            (None, _) => DAYTONA_URL.to_owned(),
        };
        let network = match &file.network {
            NetworkFile::Disabled => "no network".to_owned(),
            NetworkFile::Open => "the whole network".to_owned(),
            NetworkFile::Only(names) => format!("a network of {} names", names.len()),
        };
        let fallback = match file.fallback.as_slice() {
            [] => "and nothing in its place".to_owned(),
            names => format!("and in its place {}", names.join(", then ")),
        };
        format!("{} at {place}, with {network}, {fallback}", self.kind())
    }

    fn key(&self) -> Result<Option<Secret>, Problem> {
        let Some(key) = &self.file.key else { return Ok(None) };
        let found = key.find().map_err(|message| self.problem("key", message))?;
        Ok(Some(Secret::new(found.expose().to_owned())))
    }

    fn needed_key(&self) -> Result<Secret, Problem> {
        self.key()?.ok_or_else(|| self.problem("key", "this key is missing"))
    }

    fn deadlines(&self) -> Result<Deadlines, Problem> {
        let usual = Deadlines::default();
        let seconds = |key, value, usual| Ok(self.not_zero(key, value)?.map_or(usual, Duration::from_secs));
        Ok(Deadlines {
            connect: seconds("connect_timeout_seconds", self.file.connect_timeout_seconds, usual.connect)?,
            answer: seconds("timeout_seconds", self.file.timeout_seconds, usual.answer)?,
            create: seconds("create_timeout_seconds", self.file.create_timeout_seconds, usual.create)?,
        })
    }

    fn reach(&self) -> Result<Reach, Problem> {
        let Some(file) = &self.file.ca_file else { return Ok(Reach::default()) };
        let pem = std::fs::read(file).map_err(|cause| {
            self.problem("ca_file", format!("the file {} cannot be read: {cause}", file.display()))
        })?;
        let trust = Trust::from_pem(&pem).map_err(|error| self.problem("ca_file", error.to_string()))?;
        Ok(Reach { trust, ..Reach::default() })
    }

    fn provider(&self) -> Result<Arc<dyn Provider>, Problem> {
        let file = self.file;
        let (deadlines, reach) = (self.deadlines()?, self.reach()?);
        let wrong = |error: ProviderError| self.problem("url", error.to_string());
        match file.r#type {
            BackendType::E2b => {
                let settings = E2bSettings {
                    api_url: file.url.clone(),
                    domain: file.domain.clone(),
                    sandbox_url: file.sandbox_url.clone(),
                    api_key: self.needed_key()?,
                    template: file.template.clone().unwrap_or_else(|| E2B_TEMPLATE.to_owned()),
                    deadlines,
                    reach,
                };
                Ok(Arc::new(E2b::new(settings).map_err(wrong)?))
            }
            BackendType::Opensandbox => {
                let url = file.url.clone().ok_or_else(|| self.problem("url", "this key is missing"))?;
                let image = file.image.as_deref().unwrap_or(OPENSANDBOX_IMAGE);
                let settings = OpenSandboxSettings {
                    url,
                    api_key: self.key()?,
                    image: image.to_owned(),
                    entrypoint: match file.entrypoint.as_slice() {
                        [] => usual_entrypoint(image),
                        said => said.to_vec(),
                    },
                    use_server_proxy: file.server_proxy,
                    extensions: file.extensions.clone(),
                    deadlines,
                    reach,
                };
                Ok(Arc::new(OpenSandbox::new(settings).map_err(wrong)?))
            }
            BackendType::Daytona => {
                if file.snapshot.is_some() && file.image.is_some() {
                    return Err(self.problem("snapshot", "there is 'image' too; one of them is enough"));
                }
                let settings = DaytonaSettings {
                    url: file.url.clone().unwrap_or_else(|| DAYTONA_URL.to_owned()),
                    api_key: self.needed_key()?,
                    organization: file.organization.clone(),
                    target: file.target.clone(),
                    snapshot: file.snapshot.clone(),
                    image: file.image.clone(),
                    deadlines,
                    reach,
                };
                Ok(Arc::new(Daytona::new(settings).map_err(wrong)?))
            }
        }
    }
}

/// What an image of OpenSandbox starts with when the file does not say.
fn usual_entrypoint(image: &str) -> Vec<String> {
    let bare = image.split('@').next().unwrap_or(image);
    // A colon before a slash is that of a registry's port.
    let name = bare.rsplit_once(':').filter(|(_, tag)| !tag.contains('/')).map_or(bare, |(name, _)| name);
    let is_own =
        name.strip_suffix(OPENSANDBOX_OWN).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'));
    match is_own {
        true => vec![OPENSANDBOX_ENTRYPOINT.to_owned()],
        false => OPENSANDBOX_WAITING.map(str::to_owned).to_vec(),
    }
}

#[cfg(test)]
#[path = "backends_tests.rs"]
mod tests;
