//! `sandgate serve`: the engine behind its HTTP doors, until a signal ends it.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use sandgate_backends::FleetCheck;
use sandgate_console::{Console, ConsoleParts};
use sandgate_core::{Backend, Containers, Leases, SandboxSpec, WatchedBackend};
use sandgate_doors::admin::{AdminDoor, ApprovalsDoor, BackendsDoor, LedgerDoor};
use sandgate_doors::e2b::{self, E2bDoor};
use sandgate_doors::execute::ExecuteDoor;
use sandgate_doors::openai::OpenAiDoor;
use sandgate_doors::opensandbox::{self, OpenSandboxDoor};
use sandgate_doors::{Access, Doors, Front, MetricsDoor, Runs, Stopping, Tls};
use sandgate_engine::NetworkConfig;
use sandgate_gate::upstream::{Loopback, Router, Upstream};
use sandgate_gate::{Approvals, ContainerFiles, Executions, Gate, GateParts, Ledger, Metrics};
use sandgate_store::Store;
use tokio::net::TcpListener;
use tokio::time::{MissedTickBehavior, interval, timeout};
use tokio_util::task::TaskTracker;

use crate::authority;
use crate::cli::ServeArgs;
use crate::commands::{Purpose, start_backends};
use crate::config::{Secret, Settings, TlsSettings};
use crate::connections;
use crate::home;
use crate::logging;
use crate::reload::Reload;
use crate::session::runtime;
use crate::start_check::check_keys;
use crate::stop_signals::StopSignals;
use crate::telemetry::Telemetry;

/// For what was cut off to say so and to clean up after itself.
/// With the usual grace before it and the last traces after it, all is over before Docker's ten seconds are.
const CLEAN_UP: Duration = Duration::from_secs(2);
/// Larger than what most requests hold, small enough that one of each size kept does no harm.
const BIG_BLOCK: i32 = 8 << 20;
/// How often the ledger is looked through for what is too old.
const PRUNE_EVERY: Duration = Duration::from_secs(10 * 60);
/// How often containers are asked how long they have idled.
const EXPIRY_EVERY: Duration = Duration::from_secs(5);
/// How often sandboxes that were lent are looked at for their end.
const END_EVERY: Duration = Duration::from_secs(1);

pub(crate) fn serve(args: &ServeArgs) -> Result<ExitCode> {
    let settings = Settings::load(args)?;
    // Before the first thread: the settings are the allocator's for all of them.
    sandgate_engine::keep_big_blocks(BIG_BLOCK);
    runtime()?.block_on(Box::pin(until_stopped(args.clone(), settings)))?;
    Ok(ExitCode::SUCCESS)
}

async fn until_stopped(args: ServeArgs, mut settings: Settings) -> Result<()> {
    // First of all: from here on SIGHUP does not end the program.
    let reload = Reload::new(args)?;
    logging::set_level(settings.log.as_deref());
    logging::set_format(settings.log_format);
    for warning in &settings.warnings {
        tracing::warn!("{warning}");
    }
    let home = home::open()?;
    check_keys(&home, &settings).await?;
    // Taken before the long part: a port in use is said at once.
    let listener = TcpListener::bind(settings.listen)
        .await
        .with_context(|| format!("cannot listen on {}", settings.listen))?;
    let e2b_tls = match &settings.e2b_tls {
        Some(tls) => Some(e2b_listener(tls, &home).await?),
        None => None,
    };
    let router = Arc::new(Router::new(Arc::clone(&settings.upstreams.routes)));
    let spec = SandboxSpec { limits: settings.limits.clone(), ..SandboxSpec::default() };
    let (told, connections) = connections::channel();
    let network = Box::new(NetworkConfig {
        egress: tokio::task::block_in_place(|| settings.network.egress_over(&home)),
        ceiling: settings.network.rules.ceiling.clone(),
        limits: settings.network.limits,
        told,
    });
    let usual = SandboxSpec { network: settings.network.rules.usual.clone(), ..spec.clone() };
    let purpose = Purpose::Server { pool: settings.pool, usual, network };
    let backends = start_backends(&home, &settings.backends, purpose).await?;
    // Only now: until here there is nothing to end well, and Ctrl-C must not wait for packages to be installed.
    let mut signals = StopSignals::new()?;

    // After the engine, which holds the home's lock: two servers never share a store.
    let store =
        Store::open(&home).await.with_context(|| format!("cannot use the store in {}", home.display()))?;
    let ledger = open_ledger(&store, &settings).await?;
    let telemetry = Telemetry::start(&settings.telemetry)?;
    let metrics = Metrics::new(telemetry.tracer());
    metrics.know_models(settings.upstreams.routes.names());
    metrics.know_backends(backends.fleet.names());
    let started = metrics.clone();
    let told = move |how, is_ok, took| started.sandbox_started(how, is_ok, took);
    let backend = Arc::new(WatchedBackend::new(Arc::clone(&backends.fleet) as _, told));
    let registry = Arc::new(store.clone());
    let containers = Arc::new(Containers::open(backend, registry, settings.containers.clone()).await?);
    let leases = Arc::new(Leases::open(Arc::clone(&containers), Arc::new(store.clone())).await?);
    let tasks = TaskTracker::new();
    let approvals = Approvals::new(std::mem::take(&mut settings.approvals.policy), store.clone());
    let executions = Executions::new(Arc::clone(&containers), approvals.clone());
    let gate_to = |upstream: Arc<dyn Upstream>| {
        Arc::new(Gate::new(GateParts {
            upstream,
            containers: Arc::clone(&containers),
            executions: executions.clone(),
            store: store.clone(),
            spec: spec.clone(),
            config: settings.gate.clone(),
            tasks: tasks.clone(),
        }))
    };
    let gate = gate_to(Arc::clone(&router) as _);
    let loopback = gate_to(Arc::new(Loopback));
    let interrupted = gate.close_interrupted().await?;
    if interrupted > 0 {
        tracing::warn!(
            interrupted,
            "responses in the background were cut short by the end of the last server"
        );
    }
    let said = settings.upstreams.said.iter().chain(&settings.backends.said);
    for line in said.chain(&settings.network.described()).chain(&settings.approvals.said) {
        tracing::info!("{line}");
    }
    let execute = ExecuteDoor {
        containers: Arc::clone(&containers),
        executions: executions.clone(),
        ledger: ledger.clone(),
        spec: spec.clone(),
        tasks: tasks.clone(),
        cut: gate.cut(),
    };
    let openai = OpenAiDoor {
        gate: Arc::clone(&gate),
        containers: Arc::clone(&containers),
        store: store.clone(),
        files: ContainerFiles::new(store.clone()),
        ledger: ledger.clone(),
        spec: spec.clone(),
        tasks: tasks.clone(),
        limits: settings.door,
        strict: settings.gate.strict,
    };
    let names = backends.fleet.names().into_iter().map(str::to_owned).collect();
    let admin = AdminDoor { store: store.clone(), backends: names };
    let records = LedgerDoor { store: store.clone(), ledger: ledger.clone() };
    let checked = Arc::new(FleetCheck { fleet: Arc::clone(&backends.fleet), spec: spec.clone() });
    let health = BackendsDoor::new(Arc::clone(&checked) as _);
    let people = ApprovalsDoor { approvals: approvals.clone() };
    let measured = MetricsDoor {
        metrics: metrics.clone(),
        containers: Arc::clone(&containers),
        store: store.clone(),
        approvals: approvals.clone(),
    };
    let doors = execute
        .router()
        .merge(admin.router())
        .merge(records.router())
        .merge(people.router())
        .merge(health.router())
        .merge(measured.router())
        .merge(openai.router());
    let master = settings.master_key.as_ref().map(Secret::expose);
    let access = Access::with_metrics(store.clone(), master, settings.telemetry.metrics_open);
    let console = Console::new(ConsoleParts {
        access: access.clone(),
        store: store.clone(),
        ledger: ledger.clone(),
        approvals: approvals.clone(),
        containers: Arc::clone(&containers),
        leases: Arc::clone(&leases),
        executions: executions.clone(),
        gate: Arc::clone(&gate),
        loopback,
        upstreams: Arc::clone(&router),
        metrics: metrics.clone(),
        backends: checked,
        tasks: tasks.clone(),
    });
    let runs = Runs::new(executions, ledger.clone());
    let e2b_door = E2bDoor {
        leases: Arc::clone(&leases),
        containers: Arc::clone(&containers),
        store: store.clone(),
        spec: spec.clone(),
        tasks: tasks.clone(),
        runs: runs.clone(),
        settings: settings.e2b.clone(),
        state: e2b::DoorState::default(),
    };
    let opensandbox = OpenSandboxDoor {
        leases: Arc::clone(&leases),
        containers: Arc::clone(&containers),
        store: store.clone(),
        spec,
        tasks: tasks.clone(),
        runs,
        settings: settings.opensandbox.clone(),
        state: opensandbox::DoorState::default(),
    };
    let doors = Doors::new(doors, access.clone())
        .with_console(console.router())
        .with_opensandbox(opensandbox, access.clone())
        .with_e2b(e2b_door, access.clone());

    let stopping = Stopping::new(tasks, gate.cut());
    let counted = metrics.clone();
    let e2b_domain = settings.e2b.domain.clone();
    let front = Front { metrics, stopping: stopping.clone(), e2b_domain };
    say_ready(&listener, how_to_sign_in(&access, settings.master_key.is_some()).await?)?;
    let served = tokio::select! {
        served = serve_all(listener, e2b_tls, doors, front) => served,
        () = signals.stop(&stopping, settings.stop_grace) => Ok(()),
        () = expire_idle(&containers, &store) => Ok(()),
        () = end_due(&leases) => Ok(()),
        () = backends.fleet.keep() => Ok(()),
        () = reload.on_each_hang_up(&home, &settings, &gate, &router, &approvals, &ledger) => Ok(()),
        () = forget_old_records(&ledger) => Ok(()),
        () = connections.count(&containers, &counted, &ledger) => Ok(()),
    };
    stopping.cut();
    let clean_up = async {
        if timeout(CLEAN_UP, stopping.quiet()).await.is_err() {
            tracing::warn!("some of what was cut off did not end in time");
        }
        // Whatever ends the program from here on, what was done is on record.
        ledger.flush().await;
        // What a lease began to change comes to its end first.
        leases.settled().await;
        backends.fleet.shut_down().await;
        ledger.flush().await;
        telemetry.end().await;
    };
    tokio::select! {
        () = clean_up => {}
        () = signals.next() => tracing::warn!("another signal: the next start clears up what is left"),
    }
    served.context("the server failed")
}

/// What the last server left under way is said to be lost, before anything is added.
async fn open_ledger(store: &Store, settings: &Settings) -> Result<Ledger> {
    let ledger = Ledger::new(store.clone(), settings.ledger.clone());
    let lost = ledger.close_lost().await.context("cannot use the ledger")?;
    if lost > 0 {
        tracing::warn!(lost, "records of the last server are of work that it did not end");
    }
    Ok(ledger)
}

async fn forget_old_records(ledger: &Ledger) {
    let mut ticks = interval(PRUNE_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        if let Err(error) = ledger.prune().await {
            tracing::warn!(%error, "old records could not be removed from the ledger");
        }
    }
}

/// The one port, and beside it the one where E2B's domain is served with TLS.
async fn serve_all(
    listener: TcpListener,
    with_tls: Option<(TcpListener, Tls)>,
    doors: Doors,
    front: Front,
) -> std::io::Result<()> {
    let Some((tls_listener, tls)) = with_tls else {
        return sandgate_doors::serve(listener, None, doors, front).await;
    };
    let plain = sandgate_doors::serve(listener, None, doors.clone(), front.clone());
    let secure = sandgate_doors::serve(tls_listener, Some(tls), doors, front);
    tokio::try_join!(plain, secure).map(drop)
}

async fn e2b_listener(settings: &TlsSettings, home: &Path) -> Result<(TcpListener, Tls)> {
    let tls = authority::tls(&settings.from, home)?;
    let listener = TcpListener::bind(settings.listen)
        .await
        .with_context(|| format!("cannot listen on {} for E2B's domain", settings.listen))?;
    Ok((listener, tls))
}

/// What a person who opens the console meets there.
async fn how_to_sign_in(access: &Access, has_master: bool) -> Result<&'static str> {
    Ok(match (has_master, access.is_open().await.context("cannot read the keys")?) {
        (true, _) => "sign in with the master key",
        (false, true) => "without keys, whoever is on this machine is let in",
        (false, false) => "sign in with a key that may: sandgate key create NAME --console",
    })
}

fn say_ready(listener: &TcpListener, sign_in: &str) -> Result<()> {
    let address = listener.local_addr()?;
    // Nobody reading this is no reason not to serve.
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "Sandgate is ready on http://{address}");
    let _ = writeln!(out, "The console is at http://{address}{} ({sign_in})", sandgate_console::PATH);
    Ok(())
}

/// Deletes or pauses sandboxes whose time is over.
async fn end_due(leases: &Arc<Leases>) {
    let mut ticks = interval(END_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        leases.end_due().await;
    }
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
