//! The providers' protocols as a plain client speaks them: what it takes to get a sandbox and to run code, and nothing
//! else. Requests as LiteLLM and the providers' own SDKs send them.

use std::net::SocketAddr;

use anyhow::{Context, Result, ensure};
use bytes::Bytes;
use hyper::Method;
use serde_json::{Value, json};

use super::ACCOUNT;
use crate::bench::gate::client::{Client, Reply};

/// A sandbox somewhere: where it is made, where its code goes, and what opens both.
#[derive(Debug)]
pub(super) struct Direct {
    client: Client,
    sandboxes: &'static str,
    id: String,
    account: (&'static str, String),
    run: String,
    opens: Vec<(String, String)>,
    context: Value,
}

async fn json_of(
    client: &mut Client,
    method: Method,
    path: &str,
    account: &(&'static str, String),
    body: Option<Value>,
) -> Result<Value> {
    let body = body.map(|body| Bytes::from(body.to_string())).unwrap_or_default();
    let reply = client.send_with(method, path, std::slice::from_ref(account), body).await?;
    ensure!(reply.status.is_success(), "{path} answered {}: {}", reply.status, reply.text());
    Ok(serde_json::from_str(&reply.text())?)
}

fn text(value: &Value, key: &str) -> Result<String> {
    Ok(value[key].as_str().with_context(|| format!("no {key}"))?.to_owned())
}

impl Direct {
    pub(super) async fn e2b(far: SocketAddr) -> Result<Self> {
        let mut client = Client::new(far, ACCOUNT);
        let account = ("x-api-key", ACCOUNT.to_owned());
        let body =
            json!({"templateID": "code-interpreter-v1", "timeout": 300, "allow_internet_access": false});
        let made = json_of(&mut client, Method::POST, "/e2b/v2/sandboxes", &account, Some(body)).await?;
        let id = text(&made, "sandboxID")?;
        let mut opens = vec![
            ("e2b-sandbox-id".to_owned(), id.clone()),
            ("e2b-sandbox-port".to_owned(), "49999".to_owned()),
            ("x-access-token".to_owned(), text(&made, "envdAccessToken")?),
        ];
        if let Some(token) = made["trafficAccessToken"].as_str() {
            opens.push(("e2b-traffic-access-token".to_owned(), token.to_owned()));
        }
        let (sandboxes, run, context) = ("/e2b/sandboxes", "/e2b/execute".to_owned(), Value::Null);
        Ok(Self { client, sandboxes, id, account, run, opens, context })
    }

    pub(super) async fn opensandbox(far: SocketAddr) -> Result<Self> {
        let mut client = Client::new(far, ACCOUNT);
        let account = ("open-sandbox-api-key", ACCOUNT.to_owned());
        let sandboxes = "/v1/sandboxes";
        let body = json!({
            "image": {"uri": "opensandbox/code-interpreter:v1.1.0"},
            "entrypoint": ["/opt/code-interpreter/code-interpreter.sh"],
            "timeout": 300,
            "resourceLimits": {"cpu": "1", "memory": "512Mi"},
            "networkPolicy": {"defaultAction": "deny", "egress": []},
        });
        let made = json_of(&mut client, Method::POST, sandboxes, &account, Some(body)).await?;
        let id = text(&made, "id")?;
        let path = format!("{sandboxes}/{id}/endpoints/44772?use_server_proxy=false");
        let endpoint = json_of(&mut client, Method::GET, &path, &account, None).await?;
        let at = text(&endpoint, "endpoint")?;
        let (_, path) = at.split_once('/').context("an endpoint without a path")?;
        let headers = endpoint["headers"].as_object().cloned().unwrap_or_default();
        let opens = headers.into_iter().filter_map(|(name, value)| Some((name, value.as_str()?.to_owned())));
        let (run, context) = (format!("/{path}/code"), json!({"language": "python"}));
        Ok(Self { client, sandboxes, id, account, run, opens: opens.collect(), context })
    }

    pub(super) async fn run(&mut self, code: &str) -> Result<Reply> {
        let mut body = json!({"code": code});
        if !self.context.is_null() {
            body["context"] = self.context.clone();
        }
        let opens: Vec<(&str, String)> =
            self.opens.iter().map(|(name, value)| (name.as_str(), value.clone())).collect();
        self.client.send_with(Method::POST, &self.run, &opens, Bytes::from(body.to_string())).await
    }

    pub(super) async fn delete(mut self) -> Result<()> {
        let path = format!("{}/{}", self.sandboxes, self.id);
        let account = std::slice::from_ref(&self.account);
        let reply = self.client.send_with(Method::DELETE, &path, account, Bytes::new()).await?;
        ensure!(reply.status.is_success(), "{path} answered {}: {}", reply.status, reply.text());
        Ok(())
    }
}
