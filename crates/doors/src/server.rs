//! The listening socket: every door behind one port, small answers sent at once, and an end that
//! lets running requests finish.

use std::io;

use axum::Router;
use axum::middleware::from_fn;
use axum::serve::ListenerExt;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::cross_site::only_same_site;
use crate::local::only_local_names;

/// Answers until `stop` is cancelled and the requests under way have ended.
pub async fn serve(listener: TcpListener, doors: Router, stop: CancellationToken) -> io::Result<()> {
    let listener = listener.tap_io(|connection| {
        if let Err(error) = connection.set_nodelay(true) {
            tracing::debug!(%error, "TCP_NODELAY could not be set");
        }
    });
    let app = doors.layer(from_fn(only_same_site)).layer(from_fn(only_local_names));
    axum::serve(listener, app).with_graceful_shutdown(stop.cancelled_owned()).await
}
