//! Asks registries, in the server's own name.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::{Request, StatusCode, header};
use http_body_util::{BodyExt, Empty, Limited};
use hyper::body::Incoming;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use rustls::ClientConfig;
use tokio::sync::Semaphore;

use super::guarded::Guarded;
use super::urls::{Source, join};

pub(super) type Refused = (StatusCode, String);

const PATIENCE: Duration = Duration::from_secs(30);
const LONGEST_PAGE: usize = 32 << 20;
/// Pages that are fetched at once, for all sandboxes together: each is held whole.
const AT_ONCE: usize = 16;
/// Pages change, but not while one program installs.
const FRESH: Duration = Duration::from_secs(300);
/// What there is not is asked for once in this time, however often a sandbox asks.
const MISSING: Duration = Duration::from_secs(10);
const MOST_MISSING: usize = 1024;
const MOST_PAGES_BYTES: usize = 128 << 20;
const MOST_REDIRECTIONS: usize = 5;

pub(super) struct Fetcher {
    client: Client<HttpsConnector<Guarded>, Empty<Bytes>>,
    pages: Mutex<HashMap<String, Page>>,
    /// Pages that the registry did not have, and when it said so.
    missing: Mutex<HashMap<String, Instant>>,
    places: Semaphore,
}

struct Page {
    when: Instant,
    content: Bytes,
    /// Where it was found, after redirections.
    url: String,
}

impl std::fmt::Debug for Fetcher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Fetcher")
    }
}

impl Fetcher {
    pub(super) fn new(mut tls: ClientConfig, connects: Guarded) -> Self {
        // The connector says itself what it speaks.
        tls.alpn_protocols.clear();
        let connector = HttpsConnectorBuilder::new()
            .with_tls_config(tls)
            .https_or_http()
            .enable_http1()
            .wrap_connector(connects);
        let client = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(PATIENCE)
            .build(connector);
        Self { client, pages: Mutex::default(), missing: Mutex::default(), places: Semaphore::new(AT_ONCE) }
    }

    /// A page below a registry's address, whole, with where it was found.
    pub(super) async fn page(
        &self,
        source: &Source,
        rest: &str,
        accept: &str,
    ) -> Result<(Bytes, String), Refused> {
        let asked = source.url(rest);
        if let Some(kept) = self.kept(&asked) {
            return Ok(kept);
        }
        if self.is_missing(&asked) {
            return Err(missing(StatusCode::NOT_FOUND));
        }
        let _place = self.places.acquire().await.map_err(|_| unreachable())?;
        let (body, url) = match self.follow(source, asked.clone(), accept).await {
            Ok(found) => found,
            Err(refused) => {
                if matches!(refused.0, StatusCode::NOT_FOUND | StatusCode::GONE) {
                    self.miss(asked);
                }
                return Err(refused);
            }
        };
        let reading = Limited::new(body, LONGEST_PAGE).collect();
        let content = match tokio::time::timeout(PATIENCE * 4, reading).await {
            Ok(Ok(content)) => content.to_bytes(),
            Ok(Err(_)) | Err(_) => return Err(unreachable()),
        };
        self.keep(asked, &content, &url);
        Ok((content, url))
    }

    /// A file, to be read as it comes.
    pub(super) async fn open(&self, source: &Source, url: &str) -> Result<Incoming, Refused> {
        self.follow(source, url.to_owned(), "*/*").await.map(|(body, _)| body)
    }

    async fn follow(
        &self,
        source: &Source,
        mut url: String,
        accept: &str,
    ) -> Result<(Incoming, String), Refused> {
        for _ in 0..=MOST_REDIRECTIONS {
            let mut request =
                Request::get(&url).header(header::ACCEPT, accept).header(header::USER_AGENT, "sandgate");
            // The account is for the registry itself, wherever else it may lead.
            if let Some(account) = source.authorization.clone().filter(|_| source.is_same_place(&url)) {
                request = request.header(header::AUTHORIZATION, account);
            }
            let request = request.body(Empty::new()).map_err(|_| unreachable())?;
            let answer = match tokio::time::timeout(PATIENCE, self.client.request(request)).await {
                Ok(Ok(answer)) => answer,
                Ok(Err(error)) => {
                    tracing::warn!(
                        error = &error as &dyn std::error::Error,
                        "a package registry cannot be reached"
                    );
                    return Err(unreachable());
                }
                Err(_) => return Err(unreachable()),
            };
            match answer.status() {
                status if status.is_success() => return Ok((answer.into_body(), url)),
                status if status.is_redirection() => {
                    let to = answer.headers().get(header::LOCATION).and_then(|to| to.to_str().ok());
                    url = to.and_then(|to| join(&url, to)).ok_or_else(unreachable)?;
                }
                StatusCode::NOT_FOUND | StatusCode::GONE => {
                    return Err(missing(answer.status()));
                }
                status => {
                    return Err((
                        StatusCode::BAD_GATEWAY,
                        format!("The package registry answered with {status}."),
                    ));
                }
            }
        }
        Err(unreachable())
    }

    fn is_missing(&self, asked: &str) -> bool {
        let missing = self.missing.lock().unwrap_or_else(PoisonError::into_inner);
        missing.get(asked).is_some_and(|when| when.elapsed() < MISSING)
    }

    fn miss(&self, asked: String) {
        let mut missing = self.missing.lock().unwrap_or_else(PoisonError::into_inner);
        if missing.len() >= MOST_MISSING {
            missing.retain(|_, when| when.elapsed() < MISSING);
        }
        if missing.len() < MOST_MISSING {
            missing.insert(asked, Instant::now());
        }
    }

    fn kept(&self, asked: &str) -> Option<(Bytes, String)> {
        let pages = self.pages.lock().unwrap_or_else(PoisonError::into_inner);
        let page = pages.get(asked).filter(|page| page.when.elapsed() < FRESH)?;
        Some((page.content.clone(), page.url.clone()))
    }

    fn keep(&self, asked: String, content: &Bytes, url: &str) {
        let mut pages = self.pages.lock().unwrap_or_else(PoisonError::into_inner);
        pages.retain(|_, page| page.when.elapsed() < FRESH);
        let mut held: usize = pages.values().map(|page| page.content.len()).sum();
        // The oldest go, so that whoever asks for many does not keep others from having theirs kept.
        while held + content.len() > MOST_PAGES_BYTES {
            let oldest = pages.iter().min_by_key(|(_, page)| page.when).map(|(asked, _)| asked.clone());
            let Some(gone) = oldest.and_then(|asked| pages.remove(&asked)) else { break };
            held -= gone.content.len();
        }
        pages.insert(asked, Page { when: Instant::now(), content: content.clone(), url: url.to_owned() });
    }
}

fn missing(status: StatusCode) -> Refused {
    (status, "The registry does not have this package.".to_owned())
}

fn unreachable() -> Refused {
    (StatusCode::BAD_GATEWAY, "The package registry of this server cannot be reached.".to_owned())
}
