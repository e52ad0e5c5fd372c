//! The tool loop between a model and a container: the client's request is rewritten for the upstream,
//! the code the model writes runs in a sandbox, and the answer looks as if one service had done it all.

#![forbid(unsafe_code)]

mod approvals;
mod backgrounds;
mod chat;
mod citations;
mod code_call;
mod code_reader;
mod config;
mod container_files;
mod container_param;
mod emitter;
mod ending;
mod error;
mod execution;
mod executions;
mod file_name;
mod gate;
mod history;
mod ids;
mod input_files;
mod item_form;
mod kept_item;
mod ledger;
mod live;
mod media_type;
mod message;
mod metrics;
mod model_text;
mod network_param;
mod no_network;
mod obfuscation;
mod outputs;
mod peek;
mod plain_files;
mod recording;
mod request;
mod response_object;
mod rounds;
mod run;
mod sessions;
mod slots;
mod spelled_out;
mod thoughts;
mod tool_choice;
mod tool_secrets;
mod tools;
mod turn;
mod turn_body;
pub mod upstream;
mod usage;
mod visible;
mod workplace;

pub use approvals::{
    Approvals, BadExpression, CannotDecide, ContainerFacts, DecidedBy, Decider, Denial, Facts, Held, HeldEnd,
    InvalidWebhook, KeyFacts, Permission, Policy, Question, Rule, Stance, Verdict, Webhook, WebhookWhen,
};
pub use chat::{ChatRequest, forget_code};
pub use config::GateConfig;
pub use container_files::{ContainerFiles, ContainerFilesError};
pub use container_param::{MEMORY_SIZES, memory_bytes, only_known, read_file_ids, read_memory_limit};
pub use emitter::StreamEvent;
pub use error::{GateError, Said};
pub use executions::{Asker, Crowd, Executions, Manner, NotRun, Running};
pub use file_name::clean_file_name;
pub use gate::{Answer, Caller, EventStream, Gate, GateParts};
pub use history::is_reference;
pub use ids::{fresh_id, prefix_of};
pub use item_form::with_defaults;
pub use kept_item::kept_item;
pub use ledger::{Call, Connection, Ledger, LedgerConfig, NewCall};
pub use metrics::{ExecutionWatch, Metrics, Now, Outside, Place, RequestEnd, Watch, Whereabouts};
pub use network_param::{AskedNetwork, read_network_policy};
pub use peek::{chat_may_concern_us, may_concern_us};
pub use request::{CreateRequest, INCLUDE_OUTPUTS};
pub use visible::visible;
