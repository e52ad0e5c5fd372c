//! The agent of a sandbox, from outside: a program in it that runs commands, moves files and reaches ports. It is
//! started when it is first needed, and again when it died; nothing that it says is trusted.

mod connection;
mod disk;
mod entry;
mod failure;
mod file_reader;
mod inside;
mod operation;
mod process;
mod processes;
mod readers;
mod running;

pub(crate) use disk::Account;
pub(crate) use inside::EngineInside;
pub(crate) use processes::{EngineProcesses, ProcessTable};
pub(crate) use running::{Agent, AgentSlot};
