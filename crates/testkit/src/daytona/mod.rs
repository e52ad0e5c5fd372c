//! A stand-in for Daytona: as strict as its contract, with real Python behind it. Whatever the contract does not
//! allow is refused, and remembered as a violation.

mod check;
mod control;
mod files;
mod interpreter;
mod sandbox;
mod worker;

use std::collections::BTreeMap;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::StatusCode;
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use self::check::Refused;
use self::sandbox::Sandbox;

/// Listens on a port of its own until it is dropped.
#[derive(Debug)]
pub struct Daytona {
    address: SocketAddr,
    world: Arc<World>,
    server: JoinHandle<()>,
}

#[derive(Debug)]
pub(crate) struct World {
    key: String,
    address: SocketAddr,
    /// Holds the files of all sandboxes.
    folder: PathBuf,
    /// A virtual environment that was made to be seen at `/opt/venv`.
    venv: PathBuf,
    sandboxes: Mutex<BTreeMap<String, Arc<Sandbox>>>,
    violations: Mutex<Vec<String>>,
}

impl Daytona {
    /// `folder`: for the files of its sandboxes.
    pub async fn start(key: &str, folder: &Path, venv: &Path) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let world = Arc::new(World {
            key: key.to_owned(),
            address,
            folder: folder.to_owned(),
            venv: venv.to_owned(),
            sandboxes: Mutex::default(),
            violations: Mutex::default(),
        });
        let router = router(Arc::clone(&world));
        let server = tokio::spawn(async move { drop(axum::serve(listener, router).await) });
        Ok(Self { address, world, server })
    }

    /// As `DAYTONA_API_URL` has it.
    #[must_use]
    pub fn api_url(&self) -> String {
        format!("http://{}/api", self.address)
    }

    /// What was asked that the contract does not allow.
    #[must_use]
    pub fn violations(&self) -> Vec<String> {
        lock(&self.world.violations).clone()
    }

    /// The ids of those that are there.
    #[must_use]
    pub fn sandboxes(&self) -> Vec<String> {
        lock(&self.world.sandboxes).keys().cloned().collect()
    }

    /// As a provider does now and then.
    pub fn lose_all(&self) {
        lock(&self.world.sandboxes).clear();
    }
}

impl Drop for Daytona {
    fn drop(&mut self) {
        self.server.abort();
    }
}

fn router(world: Arc<World>) -> Router {
    let toolbox = Router::new()
        .route("/process/interpreter/execute", get(interpreter::execute))
        .route("/process/interpreter/context", post(interpreter::create).get(interpreter::list))
        .route("/process/interpreter/context/{context}", axum::routing::delete(interpreter::remove))
        .route("/process/execute", post(interpreter::shell))
        .route("/process/code-run", post(interpreter::code_run))
        .route("/files", get(files::list).delete(files::remove))
        .route("/files/info", get(files::info))
        .route("/files/download", get(files::download))
        .route("/files/bulk-upload", post(files::upload))
        .route("/files/folder", post(files::make_folder))
        .route("/files/move", post(files::rename));
    Router::new()
        .route("/api/sandbox", post(control::create).get(control::list))
        .route("/api/sandbox/{id}", get(control::get).delete(control::remove))
        .route("/api/sandbox/{id}/ttl/{minutes}", post(control::ttl))
        .route("/api/sandbox/{id}/start", post(control::start))
        .nest("/toolbox/{id}", toolbox)
        .fallback(async || Refused::new(StatusCode::NOT_FOUND, "there is no such path"))
        .method_not_allowed_fallback(async || Refused::new(StatusCode::METHOD_NOT_ALLOWED, "not this method"))
        .layer(DefaultBodyLimit::max(256 << 20))
        .layer(middleware::from_fn_with_state(Arc::clone(&world), let_in))
        .with_state(world)
}

/// Who has the key; and remembers whatever was refused as a violation of the contract.
async fn let_in(State(world): State<Arc<World>>, request: Request, next: Next) -> Response {
    let what = format!("{} {}", request.method(), request.uri());
    let shown = request.headers().get("authorization").and_then(|value| value.to_str().ok());
    let answer = if shown == Some(&format!("Bearer {}", world.key)) {
        next.run(request).await
    } else {
        Refused::new(StatusCode::UNAUTHORIZED, "the key is missing or wrong").into_response()
    };
    if let Some(refused) = answer.extensions().get::<Refused>()
        && refused.is_violation()
    {
        lock(&world.violations).push(format!("{what}: {refused}"));
    }
    answer
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl World {
    fn find(&self, id: &str) -> Result<Arc<Sandbox>, Refused> {
        let found = lock(&self.sandboxes).get(id).cloned();
        found.ok_or_else(|| Refused::missing(format!("Sandbox with ID {id} not found")))
    }

    fn started(&self, id: &str) -> Result<Arc<Sandbox>, Refused> {
        let sandbox = self.find(id)?;
        if sandbox.is_started() {
            return Ok(sandbox);
        }
        Err(Refused::new(StatusCode::BAD_REQUEST, "the sandbox has not started: wait for its state"))
    }
}
