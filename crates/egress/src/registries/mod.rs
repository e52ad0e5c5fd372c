//! Package registries for sandboxes, without a way to them: a front inside that `pip`, `npm` and `go` are pointed at,
//! and a cache that the server alone fills. What a sandbox gets was fetched by the server, over verified TLS, from
//! the operator's own registry; a package is kept under the hash that the registry gave for it. So no sandbox can
//! put anything there for another.

mod attributes;
mod discover;
mod fetch;
mod guarded;
mod hash;
mod packument;
mod pages;
mod piped;
mod store;
mod unread;
mod urls;
mod wish;

use std::collections::HashMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use http::{HeaderValue, Method, Request, StatusCode, header};
use hyper::body::Incoming;
use rustls::ClientConfig;
use sandgate_core::network::HostName;
use tokio::sync::Semaphore;

pub use discover::discover;
pub(crate) use unread::MOST_OF_ONE as MOST_UNREAD;
pub use urls::check_registry;

use crate::Way;
use crate::denied::{Host, Wanted};
use crate::dial::Dialer;
use crate::http::{Answer, refusal, text};
use crate::sandbox::SandboxEgress;
use fetch::{Fetcher, Refused};
use guarded::Guarded;
use hash::Hash;
use piped::Hold;
use store::Store;
use unread::Room;
use urls::Source;
use wish::{Pages, Wish};

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
        // A lock that is made inside would name an address that is nowhere else.
        ("NPM_CONFIG_OMIT_LOCKFILE_REGISTRY_RESOLVED", "true".to_owned()),
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
    /// Pages that are read at once.
    readers: Semaphore,
    /// For pages that were made and are not taken yet.
    room: Room,
    /// The hashes of npm's files by package and name, so that one that is kept is had without its page.
    tarballs: Mutex<HashMap<String, Hash>>,
}

const READERS: usize = 2;
const MOST_TARBALLS: usize = 10_000;

impl Registries {
    pub(crate) fn new(
        config: RegistriesConfig,
        tls: &ClientConfig,
        dialer: Arc<Dialer>,
    ) -> Result<Self, String> {
        let source = |url: Option<String>| url.as_deref().map(Source::parse).transpose();
        let (pip, npm, go) = (source(config.pip)?, source(config.npm)?, source(config.go)?);
        let own = [&pip, &npm, &go].into_iter().flatten().filter_map(Source::place).collect();
        Ok(Self {
            pip,
            npm,
            go,
            fetcher: Arc::new(Fetcher::new(tls.clone(), Guarded::new(dialer, own))),
            store: Arc::new(
                Store::open(&config.cache, config.cache_bytes).map_err(|error| error.to_string())?,
            ),
            readers: Semaphore::new(READERS),
            room: Room::default(),
            tarballs: Mutex::default(),
        })
    }

    /// A request to the front.
    pub(crate) async fn respond(
        self: &Arc<Self>,
        sandbox: &SandboxEgress,
        request: Request<Incoming>,
    ) -> Answer {
        let (wish, name) = match read(&request) {
            Ok(read) => read,
            Err((status, why)) => {
                sandbox.own_answer_turn().await;
                return text(status, why);
            }
        };
        sandbox.package_turn().await;
        let wanted = Wanted { host: Host::Name(name), port: 0 };
        let ticket = match sandbox.ticket(Way::Registry, &wanted).await {
            Ok(ticket) => ticket,
            Err(why) => return refusal(&why),
        };
        let (hold, share) = (Hold::new(sandbox, ticket).await, Arc::clone(&sandbox.places.unread));
        let is_head = request.method() == Method::HEAD;
        let front =
            request.headers().get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
        let answer = match wish {
            Wish::Page(Pages::Pip, project) => self.project(project, &share, hold).await,
            Wish::Page(Pages::Npm, package) => self.packument(package, front.to_owned(), &share, hold).await,
            Wish::File { pages, of, hash } => self.file(pages, &of, hash, is_head, hold).await,
            Wish::Metadata { of, hash } => self.metadata(&of, hash, is_head, hold).await,
            Wish::Tarball { of, file } => self.tarball(of, file, is_head, hold).await,
            Wish::Go(rest) => self.go(&rest, is_head, &share, hold).await,
        };
        answer.unwrap_or_else(|(status, why)| text(status, &why))
    }

    async fn project(&self, project: String, share: &Arc<Semaphore>, hold: Hold) -> Result<Answer, Refused> {
        let (page, url) = self.page(Pages::Pip, &project).await?;
        // Each hash and each name is in it twice.
        let room = self.room.take(share, page.len() * 2).await?;
        let written = self.aside(move || pages::rewrite(&page, &url, &project)).await?;
        Ok(piped::whole(written.into(), "text/html; charset=utf-8", hold, room))
    }

    async fn packument(
        &self,
        package: String,
        front: String,
        share: &Arc<Semaphore>,
        hold: Hold,
    ) -> Result<Answer, Refused> {
        let (page, url) = self.page(Pages::Npm, &package).await?;
        let room = self.room.take(share, page.len()).await?;
        let rewritten = self.aside(move || packument::rewrite(&page, &url, &package, &front)).await?;
        let rewritten = rewritten
            .ok_or_else(|| (StatusCode::BAD_GATEWAY, "The registry's answer cannot be read.".to_owned()))?;
        Ok(piped::whole(rewritten.into(), "application/vnd.npm.install-v1+json", hold, room))
    }

    async fn file(
        &self,
        pages: Pages,
        of: &str,
        hash: Hash,
        is_head: bool,
        hold: Hold,
    ) -> Result<Answer, Refused> {
        if let Some(file) = self.store.get(&hash.to_string()).await {
            return Ok(piped::file(file, hold).await);
        }
        let (page, from) = self.page(pages, of).await?;
        let find = move || match pages {
            Pages::Pip => pages::find(&page, &from, hash).map(|link| link.url),
            Pages::Npm => packument::find(&page, &from, hash),
        };
        let url = self.aside(find).await?.ok_or_else(|| unnamed(of))?;
        self.fetched(self.source(pages)?, hash.to_string(), Some(hash), &url, is_head, hold).await
    }

    /// What the file of this hash says of itself, which has a hash of its own.
    async fn metadata(&self, of: &str, hash: Hash, is_head: bool, hold: Hold) -> Result<Answer, Refused> {
        let (page, from) = self.page(Pages::Pip, of).await?;
        let link = self.aside(move || pages::find(&page, &from, hash)).await?;
        let link = link.ok_or_else(|| unnamed(of))?;
        let hash = link.metadata.ok_or_else(|| unnamed(of))?;
        let source = self.source(Pages::Pip)?;
        self.fetched(source, hash.to_string(), Some(hash), &link.metadata_url(), is_head, hold).await
    }

    /// By the page of its package, which has its hash.
    async fn tarball(&self, of: String, file: String, is_head: bool, hold: Hold) -> Result<Answer, Refused> {
        let tarballs = || self.tarballs.lock().unwrap_or_else(PoisonError::into_inner);
        let (source, key, package) = (self.source(Pages::Npm)?, format!("{of}/{file}"), of.clone());
        let known = tarballs().get(&key).copied();
        if let Some(hash) = known
            && let Some(file) = self.store.get(&hash.to_string()).await
        {
            return Ok(piped::file(file, hold).await);
        }
        let (page, from) = self.page(Pages::Npm, &of).await?;
        let named = self.aside(move || packument::named(&page, &from, &of, &file)).await?;
        let (hash, url) = named.ok_or_else(|| unnamed(&package))?;
        {
            let mut tarballs = tarballs();
            if tarballs.len() >= MOST_TARBALLS {
                tarballs.clear();
            }
            tarballs.insert(key, hash);
        }
        self.fetched(source, hash.to_string(), Some(hash), &url, is_head, hold).await
    }

    /// Modules have no hash in their pages; Go's own client checks them. What a version is does not change, so it is
    /// kept by its address.
    async fn go(
        &self,
        rest: &str,
        is_head: bool,
        share: &Arc<Semaphore>,
        hold: Hold,
    ) -> Result<Answer, Refused> {
        let source = known(self.go.as_ref(), "Go modules")?;
        if !rest.ends_with(".zip") {
            let (page, _) = self.fetcher.page(source, rest, "*/*").await?;
            let room = self.room.take(share, page.len()).await?;
            return Ok(piped::whole(page, "application/octet-stream", hold, room));
        }
        let url = source.url(rest);
        let name = format!("go-{}", Hash::of(url.as_bytes()).hex());
        self.fetched(source, name, None, &url, is_head, hold).await
    }

    /// A file that is kept as `name`, or will be.
    async fn fetched(
        &self,
        source: &Source,
        name: String,
        hash: Option<Hash>,
        url: &str,
        is_head: bool,
        hold: Hold,
    ) -> Result<Answer, Refused> {
        if let Some(file) = self.store.get(&name).await {
            return Ok(piped::file(file, hold).await);
        }
        if is_head {
            return Ok(piped::unread(hold));
        }
        let body = self.fetcher.open(source, url).await?;
        Ok(piped::through(Arc::clone(&self.store), name, hash, body, hold))
    }

    fn source(&self, pages: Pages) -> Result<&Source, Refused> {
        match pages {
            Pages::Pip => known(self.pip.as_ref(), "Python packages"),
            Pages::Npm => known(self.npm.as_ref(), "npm packages"),
        }
    }

    async fn page(&self, pages: Pages, of: &str) -> Result<(Bytes, String), Refused> {
        let source = self.source(pages)?;
        match pages {
            Pages::Pip => self.fetcher.page(source, &format!("{of}/"), "text/html").await,
            Pages::Npm => {
                let accept = "application/vnd.npm.install-v1+json, application/json";
                self.fetcher.page(source, of, accept).await
            }
        }
    }

    /// Pages can be large. They are read on threads of their own, a few at a time, so that nothing else waits for it.
    async fn aside<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Refused> {
        let failed = || (StatusCode::INTERNAL_SERVER_ERROR, "A page could not be read.".to_owned());
        let _turn = self.readers.acquire().await.map_err(|_| failed())?;
        tokio::task::spawn_blocking(work).await.map_err(|_| failed())
    }
}

/// What is asked for, and the name that it is counted under.
fn read(request: &Request<Incoming>) -> Result<(Wish, HostName), (StatusCode, &'static str)> {
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return Err((StatusCode::METHOD_NOT_ALLOWED, "Packages can only be fetched here, not published."));
    }
    let unknown = "There is no such page. Known are /pip/simple/, /npm/ and /go/.";
    let wish = Wish::read(request.uri().path()).ok_or((StatusCode::NOT_FOUND, unknown))?;
    let name = wish.kind().parse().map_err(|_| (StatusCode::NOT_FOUND, "no such registry"))?;
    Ok((wish, name))
}

fn known<'a>(source: Option<&'a Source>, what: &str) -> Result<&'a Source, Refused> {
    source.ok_or_else(|| {
        (StatusCode::NOT_FOUND, format!("The operator of this server has no registry of {what}."))
    })
}

fn unnamed(package: &str) -> Refused {
    (StatusCode::NOT_FOUND, format!("The registry's page of '{package}' names no such file."))
}

/// A header that is fixed.
pub(crate) fn typed(answer: &mut Answer, kind: &'static str) {
    answer.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
}
