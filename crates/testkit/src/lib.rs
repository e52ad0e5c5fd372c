//! For tests only: a scripted model that answers like the real service and refuses what the real service would
//! refuse, checks of what we send against the official schema, the outside that sandboxes may reach, and a stand-in
//! for Daytona.

#![forbid(unsafe_code)]

mod answer;
mod chat;
mod chat_chunks;
mod checks;
mod daytona;
mod delivery;
mod events;
mod ids;
mod item_events;
mod items;
pub mod network;
mod normalise;
mod record;
mod response;
mod rules;
mod script;
mod server;
mod shorthand;
mod spoken;
mod sse;
mod traces;

pub use checks::Schemas;
pub use daytona::Daytona;
pub use normalise::{Normaliser, merge_deltas, normalise};
pub use record::{Request, Violation};
pub use script::{
    CustomCall, FunctionCall, HttpAnswer, Item, Reasoning, Script, Status, Turn, TurnError, Usage,
};
pub use server::ScriptedModel;
pub use sse::{FramingError, read_chunks, read_events};
pub use traces::{TRACES, Trace};
