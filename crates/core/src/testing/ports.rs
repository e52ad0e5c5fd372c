//! A view into a sandbox that has ports and nothing else.

use std::collections::{BTreeMap, HashMap};
use std::net::SocketAddr;
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use tokio::io::AsyncRead;
use tokio::net::TcpStream;

use crate::{
    BackendError, ByteRange, Connection, Entry, FolderChanges, Inside, OpenFile, Result, SandboxPath,
};

/// Where this machine listens for each port inside.
#[derive(Debug, Default)]
pub struct ScriptedPorts(Mutex<HashMap<u16, SocketAddr>>);

impl ScriptedPorts {
    pub fn open(&self, port: u16, address: SocketAddr) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(port, address);
    }
}

fn no<T>() -> Result<T> {
    Err(BackendError::Unsupported("looking into a scripted sandbox"))
}

#[async_trait]
impl Inside for ScriptedPorts {
    async fn stat(&self, _path: &SandboxPath) -> Result<Entry> {
        no()
    }
    async fn list(&self, _path: &SandboxPath, _depth: u32) -> Result<Vec<Entry>> {
        no()
    }
    async fn open(&self, _path: &SandboxPath, _range: Option<ByteRange>) -> Result<OpenFile> {
        no()
    }
    async fn write(
        &self,
        _path: &SandboxPath,
        _content: &mut (dyn AsyncRead + Send + Unpin),
        _attributes: &BTreeMap<String, String>,
    ) -> Result<Entry> {
        no()
    }
    async fn make_dir(&self, _path: &SandboxPath) -> Result<Entry> {
        no()
    }
    async fn rename(&self, _from: &SandboxPath, _to: &SandboxPath) -> Result<Entry> {
        no()
    }
    async fn remove(&self, _path: &SandboxPath) -> Result<()> {
        no()
    }
    async fn set_mode(&self, _path: &SandboxPath, _mode: u32) -> Result<()> {
        no()
    }
    async fn watch(&self, _path: &SandboxPath, _recursive: bool) -> Result<FolderChanges> {
        no()
    }
    async fn connect(&self, port: u16) -> Result<Box<dyn Connection>> {
        let address = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&port).copied();
        let connected = match address {
            Some(address) => TcpStream::connect(address).await.ok(),
            None => None,
        };
        Ok(Box::new(connected.ok_or(BackendError::PortClosed(port))?))
    }
    async fn answer(&self, _port: u16, _said: &str) -> Result<()> {
        no()
    }
}
