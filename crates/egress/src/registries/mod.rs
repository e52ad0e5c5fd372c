//! Package registries for sandboxes, without a way to them: a front inside that `pip`, `npm` and `go` are pointed at,
//! and a cache that the server alone fills. What a sandbox gets was fetched by the server, over verified TLS, from
//! the operator's own registry; a package is kept under the hash that the registry gave for it. So no sandbox can
//! put anything there for another.

mod discover;
mod fetch;
mod hash;
mod packument;
mod pages;
mod piped;
mod store;
mod urls;

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use http::{HeaderValue, Method, Request, StatusCode, header};
use hyper::body::Incoming;
use rustls::ClientConfig;
use sandgate_core::network::HostName;

pub use discover::discover;

use crate::Way;
use crate::denied::{Host, Wanted};
use crate::http::{Answer, text};
use crate::sandbox::SandboxEgress;
use fetch::Fetcher;
use hash::Hash;
use piped::Hold;
use store::Store;
use urls::Source;

/// Where packages come from; None: sandboxes get none of that kind.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct RegistriesConfig {
    /// An index of Python packages (PEP 503), as in `PIP_INDEX_URL`.
    pub pip: Option<String>,
    pub npm: Option<String>,
    /// A proxy of Go modules, as in `GOPROXY`.
    pub go: Option<String>,
    /// The folder of the cache.
    pub cache: PathBuf,
    /// The most it may hold; the packages that were not used for the longest time go first.
    pub cache_bytes: u64,
}

impl fmt::Debug for RegistriesConfig {
    /// An address may hold a password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kinds = [("pip", &self.pip), ("npm", &self.npm), ("go", &self.go)];
        let known: Vec<_> =
            kinds.into_iter().filter(|(_, url)| url.is_some()).map(|(kind, _)| kind).collect();
        f.debug_struct("RegistriesConfig")
            .field("kinds", &known)
            .field("cache", &self.cache)
            .finish_non_exhaustive()
    }
}

/// What programs inside need to find the front, at the address of the HTTP proxy.
#[must_use]
pub fn registry_env(proxy: std::net::SocketAddr) -> Vec<(String, String)> {
    [
        ("PIP_INDEX_URL", format!("http://{proxy}/pip/simple/")),
        ("UV_DEFAULT_INDEX", format!("http://{proxy}/pip/simple/")),
        ("NPM_CONFIG_REGISTRY", format!("http://{proxy}/npm/")),
        ("GOPROXY", format!("http://{proxy}/go")),
        // What asks for more than packages would only wait for an answer.
        ("NPM_CONFIG_AUDIT", "false".to_owned()),
        ("NPM_CONFIG_FUND", "false".to_owned()),
        ("NPM_CONFIG_UPDATE_NOTIFIER", "false".to_owned()),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .to_vec()
}

#[derive(Debug)]
pub(crate) struct Registries {
    pip: Option<Source>,
    npm: Option<Source>,
    go: Option<Source>,
    fetcher: Arc<Fetcher>,
    store: Arc<Store>,
}

/// What can be asked for.
enum Wish {
    /// A page of a Python project.
    Project(String),
    /// A file that a page or a packument named, by its hash.
    File(Hash),
    Packument(String),
    Go(String),
}

impl Registries {
    pub(crate) fn new(config: RegistriesConfig, tls: &ClientConfig) -> Result<Self, String> {
        let source = |url: Option<String>| url.as_deref().map(Source::parse).transpose();
        Ok(Self {
            pip: source(config.pip)?,
            npm: source(config.npm)?,
            go: source(config.go)?,
            fetcher: Arc::new(Fetcher::new(tls.clone())),
            store: Arc::new(
                Store::open(&config.cache, config.cache_bytes).map_err(|error| error.to_string())?,
            ),
        })
    }

    /// A request to the front.
    pub(crate) async fn respond(
        self: &Arc<Self>,
        sandbox: &SandboxEgress,
        request: Request<Incoming>,
    ) -> Answer {
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            return text(StatusCode::METHOD_NOT_ALLOWED, "Packages can only be fetched here, not published.");
        }
        let path = request.uri().path().to_owned();
        let Some((kind, wish)) = wish(&path) else {
            return text(
                StatusCode::NOT_FOUND,
                "There is no such page. Known are /pip/simple/, /npm/ and /go/.",
            );
        };
        let Ok(name) = kind.parse::<HostName>() else {
            return text(StatusCode::NOT_FOUND, "no such registry");
        };
        let wanted = Wanted { host: Host::Name(name), port: 0 };
        let ticket = match sandbox.ticket(Way::Registry, &wanted) {
            Ok(ticket) => ticket,
            Err(why) => return text(StatusCode::TOO_MANY_REQUESTS, &why.to_string()),
        };
        let hold = Hold::new(sandbox, ticket).await;
        let front =
            request.headers().get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
        let answer = match wish {
            Wish::Project(project) => self.project(&project, hold).await,
            Wish::Packument(package) => self.packument(&package, front, hold).await,
            Wish::File(hash) => self.file(hash, hold).await,
            Wish::Go(rest) => self.go(&rest, hold).await,
        };
        answer.unwrap_or_else(|(status, why)| text(status, &why))
    }

    async fn project(&self, project: &str, hold: Hold) -> Result<Answer, (StatusCode, String)> {
        let source = known(self.pip.as_ref(), "Python packages")?;
        let (page, url) = self.fetcher.page(source, &format!("{project}/"), "text/html").await?;
        let links = pages::read(&page, &url);
        for link in &links {
            self.store.remember(link.hash, link.url.clone());
        }
        Ok(piped::whole(pages::write(project, &links).into(), "text/html; charset=utf-8", hold))
    }

    async fn packument(
        &self,
        package: &str,
        front: &str,
        hold: Hold,
    ) -> Result<Answer, (StatusCode, String)> {
        let source = known(self.npm.as_ref(), "npm packages")?;
        let accept = "application/vnd.npm.install-v1+json, application/json";
        let (page, url) = self.fetcher.page(source, package, accept).await?;
        let unreadable = || (StatusCode::BAD_GATEWAY, "the registry's answer cannot be read".to_owned());
        let (rewritten, files) = packument::rewrite(&page, &url, front).ok_or_else(unreadable)?;
        for (hash, url) in files {
            self.store.remember(hash, url);
        }
        Ok(piped::whole(rewritten.into(), "application/vnd.npm.install-v1+json", hold))
    }

    async fn file(self: &Arc<Self>, hash: Hash, hold: Hold) -> Result<Answer, (StatusCode, String)> {
        if let Some(file) = self.store.get(hash).await {
            return Ok(piped::file(file, hold).await);
        }
        let Some(url) = self.store.url_of(hash) else {
            let why = "This file was not named by a page that was asked for; ask for the page of its project first.";
            return Err((StatusCode::NOT_FOUND, why.to_owned()));
        };
        let sources = [&self.pip, &self.npm];
        let source = sources.into_iter().flatten().find(|source| source.is_same_place(&url));
        let body = self.fetcher.open(source, &url, "*/*").await?;
        Ok(piped::through(Arc::clone(&self.store), hash, body, hold))
    }

    /// Modules have no hash in their pages; Go's own client checks them. They are kept by their address.
    async fn go(&self, rest: &str, hold: Hold) -> Result<Answer, (StatusCode, String)> {
        let source = known(self.go.as_ref(), "Go modules")?;
        let (page, _) = self.fetcher.page(source, rest, "*/*").await?;
        Ok(piped::whole(page, "application/octet-stream", hold))
    }
}

fn known<'a>(source: Option<&'a Source>, what: &str) -> Result<&'a Source, (StatusCode, String)> {
    source.ok_or_else(|| {
        (StatusCode::NOT_FOUND, format!("The operator of this server has no registry of {what}."))
    })
}

/// Only names that can be in a path of a registry pass; nothing that leads out of it.
fn wish(path: &str) -> Option<(&'static str, Wish)> {
    let plain = |text: &str, more: &str| {
        let fits = |byte: u8| {
            byte.is_ascii_alphanumeric() || b"-_.".contains(&byte) || more.as_bytes().contains(&byte)
        };
        !text.is_empty()
            && text.len() <= 512
            && text.bytes().all(fits)
            && !text.split('/').any(|part| part.starts_with(".."))
    };
    if let Some(project) = path.strip_prefix("/pip/simple/") {
        let project = project.trim_end_matches('/');
        return plain(project, "").then(|| ("pip", Wish::Project(project.to_owned())));
    }
    if let Some(file) = path.strip_prefix("/pip/files/") {
        return Some(("pip", Wish::File(Hash::read(file.split('/').next()?)?)));
    }
    if let Some(file) = path.strip_prefix("/npm/-/files/") {
        return Some(("npm", Wish::File(Hash::read(file.split('/').next()?)?)));
    }
    if let Some(package) = path.strip_prefix("/npm/") {
        // Programs write the slash of a name with a scope in either way. No other code is a name's.
        let package = package.replace("%2f", "/").replace("%2F", "/");
        return plain(&package, "@/").then_some(("npm", Wish::Packument(package)));
    }
    let module = path.strip_prefix("/go/")?;
    plain(module, "@/!+~").then(|| ("go", Wish::Go(module.to_owned())))
}

/// A header that is fixed.
pub(crate) fn typed(answer: &mut Answer, kind: &'static str) {
    answer.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
}

#[cfg(test)]
#[path = "mod_tests.rs"]
mod tests;
