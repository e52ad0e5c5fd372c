//! `sandgate serve`: the engine behind its HTTP doors, until a signal ends it.

use std::io::Write;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use sandgate_core::{Backend, Containers, SandboxSpec};
use sandgate_doors::execute::ExecuteDoor;
use sandgate_doors::openai::OpenAiDoor;
use sandgate_gate::{ContainerFiles, Gate, GateParts};
use sandgate_store::Store;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::{MissedTickBehavior, interval, sleep, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::bad_input::BadInput;
use crate::cli::ServeArgs;
use crate::commands::{Purpose, start_engine};
use crate::config::Settings;
use crate::home;
use crate::session::runtime;
use crate::upstream;

/// How long requests under way may go on after the first signal.
const GRACE: Duration = Duration::from_secs(10);
/// How often containers are asked how long they have idled.
const EXPIRY_EVERY: Duration = Duration::from_secs(5);

pub(crate) fn serve(args: &ServeArgs) -> Result<ExitCode> {
    let settings = Settings::load(args)?;
    runtime()?.block_on(Box::pin(until_stopped(settings)))?;
    Ok(ExitCode::SUCCESS)
}

async fn until_stopped(settings: Settings) -> Result<()> {
    let home = home::open()?;
    // Taken before the long part: a port in use is said at once.
    let listener = TcpListener::bind(settings.listen)
        .await
        .with_context(|| format!("cannot listen on {}", settings.listen))?;
    let chosen =
        upstream::choose(settings.upstream.as_ref()).map_err(|error| BadInput::error(error.to_string()))?;
    let spec = SandboxSpec { limits: settings.limits, ..SandboxSpec::default() };
    let engine = start_engine(Purpose::Server { pool: settings.pool, usual: spec.clone() }).await?;

    // After the engine, which holds the home's lock: two servers never share a store.
    let store =
        Store::open(&home).await.with_context(|| format!("cannot use the store in {}", home.display()))?;
    let backend: Arc<dyn Backend> = Arc::clone(&engine) as _;
    let registry = Arc::new(store.clone());
    let containers = Arc::new(Containers::open(backend, registry, settings.containers).await?);
    let tasks = TaskTracker::new();
    let gate = Arc::new(Gate::new(GateParts {
        upstream: chosen.upstream,
        containers: Arc::clone(&containers),
        store: store.clone(),
        spec: spec.clone(),
        config: settings.gate.clone(),
        tasks: tasks.clone(),
    }));
    let interrupted = gate.close_interrupted().await?;
    if interrupted > 0 {
        tracing::warn!(
            interrupted,
            "responses in the background were cut short by the end of the last server"
        );
    }
    tracing::info!("{}", chosen.said);
    let execute =
        ExecuteDoor { containers: Arc::clone(&containers), spec: spec.clone(), tasks: tasks.clone() };
    let openai = OpenAiDoor {
        gate,
        containers: Arc::clone(&containers),
        store: store.clone(),
        files: ContainerFiles::new(store.clone()),
        spec,
        tasks: tasks.clone(),
        limits: settings.door,
        strict: settings.gate.strict,
    };
    let doors = execute.router().merge(openai.router());

    let stop = CancellationToken::new();
    say_ready(&listener)?;
    let served = tokio::select! {
        served = sandgate_doors::serve(listener, doors, stop.clone()) => served,
        ended = stop_on_signal(&stop) => ended,
        () = expire_idle(&containers, &store) => Ok(()),
    };
    tasks.close();
    let _ = timeout(GRACE, tasks.wait()).await;
    engine.shut_down().await;
    served.context("the server failed")
}

fn say_ready(listener: &TcpListener) -> Result<()> {
    let address = listener.local_addr()?;
    // Nobody reading this is no reason not to serve.
    let _ = writeln!(std::io::stdout().lock(), "Sandgate is ready on http://{address}");
    Ok(())
}

/// The first signal stops new requests; a second one, or the end of the grace, also those under way.
async fn stop_on_signal(stop: &CancellationToken) -> std::io::Result<()> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut asked = async || {
        tokio::select! { _ = interrupt.recv() => {}, _ = terminate.recv() => {} }
    };
    asked().await;
    tracing::info!(
        "stopping; requests under way have {} seconds, a second signal ends them now",
        GRACE.as_secs()
    );
    stop.cancel();
    tokio::select! { () = asked() => {}, () = sleep(GRACE) => {} }
    Ok(())
}

async fn expire_idle(containers: &Containers, store: &Store) {
    let mut ticks = interval(EXPIRY_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        containers.expire_idle().await;
        if let Err(error) = store.remove_expired_files().await {
            tracing::warn!(%error, "expired files could not be removed");
        }
    }
}
