//! The backends that the suite is for.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Duration;

use sandgate_backends::daytona::Daytona;
use sandgate_backends::e2b::E2b;
use sandgate_backends::opensandbox::OpenSandbox;
use sandgate_backends::{
    BreakerConfig, DaytonaSettings, Deadlines, E2bSettings, NetworkWish, OpenSandboxSettings, Provider,
    Reach, RemoteBackend, RemoteConfig,
};
use sandgate_core::{Backend, Secret};
use sandgate_outbound::{Names, Trust};
use tokio::sync::OnceCell;

use super::daytona::{self, daytona};
use super::engine;
use super::server::{self, other_end};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Embedded,
    E2bAtOneAddress,
    E2bByDomain,
    OpenSandboxDirect,
    OpenSandboxProxy,
    Daytona,
}

impl Kind {
    pub(crate) const ALL: [Self; 6] = [
        Self::Embedded,
        Self::E2bAtOneAddress,
        Self::E2bByDomain,
        Self::OpenSandboxDirect,
        Self::OpenSandboxProxy,
        Self::Daytona,
    ];

    /// As the documentation has it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Embedded => "embedded",
            Self::E2bAtOneAddress | Self::E2bByDomain => "e2b",
            Self::OpenSandboxDirect | Self::OpenSandboxProxy => "opensandbox",
            Self::Daytona => "daytona",
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub(crate) backend: Arc<dyn Backend>,
    /// None: the embedded engine has none.
    pub(crate) provider: Option<Arc<dyn Provider>>,
    /// For another run of the gate over the same home.
    pub(crate) config: Option<RemoteConfig>,
}

static TARGETS: [OnceCell<Target>; 6] = [const { OnceCell::const_new() }; 6];

pub(crate) async fn target(kind: Kind) -> &'static Target {
    TARGETS[kind as usize].get_or_init(async || start(kind).await).await
}

async fn start(kind: Kind) -> Target {
    let provider: Arc<dyn Provider> = match kind {
        Kind::Embedded => {
            let backend = Arc::clone(engine().await) as Arc<dyn Backend>;
            return Target { backend, provider: None, config: None };
        }
        Kind::E2bAtOneAddress => {
            let url = format!("{}/e2b", other_end().await.url());
            // Nobody must be asked at this name.
            e2b("nowhere.invalid", Some(url), Reach::default())
        }
        Kind::E2bByDomain => {
            let end = other_end().await;
            let pem = std::fs::read(&end.authority).expect("the authority of the other end");
            let names = Names::At(IpAddr::V4(Ipv4Addr::LOCALHOST));
            let reach = Reach { trust: Trust::from_pem(&pem).expect("a certificate"), names };
            e2b(&end.domain, None, reach)
        }
        Kind::OpenSandboxDirect => opensandbox(false).await,
        Kind::OpenSandboxProxy => opensandbox(true).await,
        Kind::Daytona => {
            let settings = DaytonaSettings {
                url: daytona().await.api_url(),
                api_key: Secret::new(daytona::KEY.to_owned()),
                organization: None,
                target: None,
                snapshot: None,
                image: None,
                deadlines: Deadlines::default(),
                reach: Reach::default(),
            };
            Arc::new(Daytona::new(settings).expect("good settings"))
        }
    };
    let home = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder").keep();
    let config = RemoteConfig {
        name: format!("{kind:?}"),
        life: Duration::from_secs(600),
        network: NetworkWish::Nothing,
        env: Vec::new(),
        metadata: BTreeMap::new(),
        breaker: BreakerConfig::default(),
        gate: format!("gate-{}-{}", std::process::id(), kind as usize),
        home,
    };
    let backend =
        RemoteBackend::open(Arc::clone(&provider), config.clone()).await.expect("the backend opens");
    Target { backend: Arc::new(backend), provider: Some(provider), config: Some(config) }
}

fn e2b(domain: &str, url: Option<String>, reach: Reach) -> Arc<dyn Provider> {
    let settings = E2bSettings {
        api_url: url.clone(),
        domain: Some(domain.to_owned()),
        sandbox_url: url,
        api_key: Secret::new(server::KEY.to_owned()),
        template: "code-interpreter-v1".to_owned(),
        deadlines: Deadlines::default(),
        reach,
    };
    Arc::new(E2b::new(settings).expect("good settings"))
}

async fn opensandbox(use_server_proxy: bool) -> Arc<dyn Provider> {
    let settings = OpenSandboxSettings {
        url: format!("{}/v1", other_end().await.url()),
        api_key: Some(Secret::new(server::KEY.to_owned())),
        image: "opensandbox/code-interpreter:v1.1.0".to_owned(),
        entrypoint: vec!["/opt/code-interpreter/code-interpreter.sh".to_owned()],
        use_server_proxy,
        extensions: BTreeMap::new(),
        deadlines: Deadlines::default(),
        reach: Reach::default(),
    };
    Arc::new(OpenSandbox::new(settings).expect("good settings"))
}
