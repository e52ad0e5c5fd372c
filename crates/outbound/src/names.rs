//! Where a name leads: to what the system says, or to one address for all.

use std::future::Future;
use std::net::{IpAddr, SocketAddr};
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
        match self.names {
            // The port is put in by who connects.
            Names::At(address) => {
                Box::pin(std::future::ready(Ok(vec![SocketAddr::new(address, 0)].into_iter())))
            }
            Names::System => {
                let looked_up = self.system.call(name);
                Box::pin(async move { Ok(looked_up.await?.collect::<Vec<_>>().into_iter()) })
            }
        }
    }
}
