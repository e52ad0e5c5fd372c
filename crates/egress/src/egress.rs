//! The way out of all sandboxes of a server.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use crate::{Attached, EgressConfig, EgressError, InsideSockets, LivePolicy, Observer};

/// One per server.
#[derive(Debug)]
pub struct Egress {
    _config: EgressConfig,
}

impl Egress {
    pub fn new(config: EgressConfig) -> Result<Arc<Self>, EgressError> {
        Ok(Arc::new(Self { _config: config }))
    }

    /// Serve the sockets of one sandbox until the answer is dropped. Must be called within a tokio runtime.
    pub fn attach(
        self: &Arc<Self>,
        _sockets: InsideSockets,
        _policy: LivePolicy,
        _observer: Arc<dyn Observer>,
    ) -> Result<Attached, EgressError> {
        let ending = CancellationToken::new();
        Ok(Attached { _ends: ending.drop_guard(), authority: None })
    }

    /// All certificates that programs inside should trust (PEM): the host's own and that of [`Attached::authority`].
    #[must_use]
    pub fn trust_bundle(&self, authority: Option<&str>) -> String {
        authority.unwrap_or_default().to_owned()
    }
}
