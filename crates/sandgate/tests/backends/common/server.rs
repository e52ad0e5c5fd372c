//! The other end: a second server of ours, which is a real E2B and a real OpenSandbox.

use std::net::TcpListener;
use std::path::PathBuf;

use tokio::sync::OnceCell;

use super::program::Server;
use super::scratch_home;

/// The key of the other end.
pub(crate) const KEY: &str = "sg-master-of-the-other-end";
const DOMAIN: &str = "sandboxes.test";

pub(crate) struct OtherEnd {
    server: Server,
    /// With the port at which it speaks TLS.
    pub(crate) domain: String,
    /// Who signed its certificate.
    pub(crate) authority: PathBuf,
}

static OTHER_END: OnceCell<OtherEnd> = OnceCell::const_new();

impl OtherEnd {
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.server.address)
    }
}

/// One for all tests; it goes when this process does.
pub(crate) async fn other_end() -> &'static OtherEnd {
    let start = async || {
        let home = scratch_home().await.keep();
        let free = TcpListener::bind("127.0.0.1:0").expect("a free port").local_addr().expect("its number");
        let domain = format!("{DOMAIN}:{}", free.port());
        let config = home.join("config.yaml");
        let e2b = format!("{{domain: '{domain}', listen: '{free}', self_signed: true}}");
        std::fs::write(&config, format!("pool: 2\nmaster_key: {KEY}\ne2b: {e2b}\n"))
            .expect("a configuration");
        let authority = home.join("authority/ca.pem");
        OtherEnd { server: Server::start_for_good(&home, &config), domain, authority }
    };
    OTHER_END.get_or_init(start).await
}
