//! Where a name leads: to what the system says, or to one address for all. Names below `localhost` are this
//! machine's, whatever the system's resolver makes of them, as browsers have it.

use std::future::Future;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::pin::Pin;
use std::task::{Context, Poll};

use hyper_util::client::legacy::connect::dns::{GaiResolver, Name};
use tower_service::Service;

#[derive(Clone, Debug, Default)]
pub enum Names {
    #[default]
    System,
    /// Every name is this host: for a domain that has no wildcard in the DNS. Certificates are still
    /// checked against the name.
    At(IpAddr),
}

impl Names {
    pub(crate) fn resolver(&self) -> Resolver {
        Resolver { names: self.clone(), system: GaiResolver::new() }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Resolver {
    names: Names,
    system: GaiResolver,
}

impl Service<Name> for Resolver {
    type Response = std::vec::IntoIter<SocketAddr>;
    type Error = std::io::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Self::Error>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.system.poll_ready(cx)
    }

    fn call(&mut self, name: Name) -> Self::Future {
        let known = match self.names {
            Names::At(address) => Some(address),
            Names::System => is_below_localhost(name.as_str()).then_some(Ipv4Addr::LOCALHOST.into()),
        };
        if let Some(address) = known {
            // The port is put in by who connects.
            return Box::pin(std::future::ready(Ok(vec![SocketAddr::new(address, 0)].into_iter())));
        }
        let looked_up = self.system.call(name);
        Box::pin(async move { Ok(looked_up.await?.collect::<Vec<_>>().into_iter()) })
    }
}

/// `localhost` itself is left to the system, which may have it at an address of version 6.
fn is_below_localhost(name: &str) -> bool {
    name.trim_end_matches('.').to_ascii_lowercase().ends_with(".localhost")
}

#[cfg(test)]
#[path = "names_tests.rs"]
mod tests;
