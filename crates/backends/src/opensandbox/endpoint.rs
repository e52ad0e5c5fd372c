//! Where execd of a sandbox is, and what must be sent there: the server says both.

use http::{HeaderMap, HeaderName, Method, header};

use super::lifecycle::{API_KEY, LARGEST, Lifecycle};
use super::wire::EndpointAnswer;
use crate::http::{Address, HttpError, sensitive};
use crate::{PlaceId, ProviderError, ProviderResult};

const EXECD_PORT: u16 = 44772;
/// What belongs to a connection, and is not the server's to say.
const NOT_THEIRS: [HeaderName; 6] = [
    header::HOST,
    header::CONTENT_LENGTH,
    header::CONTENT_TYPE,
    header::CONNECTION,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
];
const MOST_HEADERS: usize = 32;

#[derive(Clone, Debug)]
pub(super) struct Endpoint {
    pub(super) address: Address,
    pub(super) headers: HeaderMap,
}

impl Lifecycle {
    /// None: it is not known yet.
    pub(super) async fn endpoint(&self, id: &PlaceId) -> ProviderResult<Option<Endpoint>> {
        let proxy = if self.settings.use_server_proxy { "true" } else { "false" };
        let path = format!("/{id}/endpoints/{EXECD_PORT}");
        let call = self.call(Method::GET, &path, &[("use_server_proxy", proxy)])?;
        let answer = match self.client.demand(call).await {
            Ok(answer) => answer,
            Err(HttpError::Refused { status, .. }) if status == http::StatusCode::NOT_FOUND => {
                return Ok(None);
            }
            Err(error) => return Err(error.into()),
        };
        let said: EndpointAnswer = answer.json(LARGEST).await?;
        let garbage = |what: &str| ProviderError::Garbage(format!("an endpoint with {what}"));
        let address = self.api.beside(&said.endpoint).map_err(|_| garbage("no address"))?;
        if address.is_of_this_machine() && !self.api.is_of_this_machine() {
            return Err(garbage("an address of this machine"));
        }
        let mut headers = HeaderMap::new();
        for (name, value) in said.headers.unwrap_or_default().into_iter().take(MOST_HEADERS) {
            let name = HeaderName::try_from(name).map_err(|_| garbage("a header that cannot be sent"))?;
            if !NOT_THEIRS.contains(&name) {
                headers.insert(name, sensitive(&value).map_err(|_| garbage("a header that cannot be sent"))?);
            }
        }
        // The key goes to the server that it is for, and never to a sandbox.
        if self.settings.use_server_proxy
            && address.is_same_server(&self.api)
            && let Some(key) = &self.settings.api_key
        {
            headers.insert(API_KEY, sensitive(key.expose())?);
        }
        Ok(Some(Endpoint { address, headers }))
    }
}
