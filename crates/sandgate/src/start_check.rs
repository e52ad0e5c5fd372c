//! What keys ask of a server before it starts.

use std::path::Path;

use anyhow::{Context, Result};
use sandgate_store::Store;

use crate::bad_input::BadInput;
use crate::config::Settings;

/// A shorter one can be guessed by whoever reaches the server.
const LEAST_LENGTH: usize = 16;

pub(crate) async fn check_keys(home: &Path, settings: &Settings) -> Result<()> {
    let master = settings.master_key.as_ref().map(|key| key.expose().len());
    if master.is_some_and(|length| length < LEAST_LENGTH) {
        if !settings.listen.ip().is_loopback() {
            return Err(BadInput::error(format!(
                "refusing to listen on {}: the master key is shorter than {LEAST_LENGTH} characters, so it \
                 could be guessed",
                settings.listen
            )));
        }
        tracing::warn!("the master key is shorter than {LEAST_LENGTH} characters; use a longer one");
    }
    if settings.keyless.is_empty() {
        return Ok(());
    }
    let open = async || -> Result<bool> { Ok(Store::open_beside(home).await?.has_keys().await?) };
    let has_keys = master.is_some()
        || open().await.with_context(|| format!("cannot use the store in {}", home.display()))?;
    if !has_keys {
        return Ok(());
    }
    Err(BadInput::error(format!(
        "with keys of this server's own, the key of a client is not passed on, and these upstreams have no other: \
         {}; give each a 'key' (any text where it asks for none)",
        settings.keyless.join(", ")
    )))
}
