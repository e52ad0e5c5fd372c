//! The embedded backend: sandboxes made of namespaces, kernels forked from a zygote, a pool of both.

#![forbid(unsafe_code)]

mod agent;
mod copies;
pub mod doctor;
mod engine;
mod error;
mod files;
pub mod frame;
mod helper;
mod idle_disks;
mod ids;
mod instance;
mod kernel;
mod kernel_files;
mod made_inside;
mod network;
mod output;
mod plain_start;
mod pool;
pub mod runtime;
mod sandbox;
mod sealed;
mod shared;
mod volume;
mod way_out;
mod zygote;
mod zygotes;

pub use engine::{Engine, EngineConfig, LimitsBy};
pub use error::StartError;
pub use helper::run_role_if_asked;
pub use instance::lock_containers;
pub use network::{NetworkConfig, Told};
pub use sandgate_egress::{
    EgressConfig, RegistriesConfig, Resolution, Seen, SeenVerdict, check_registry, discover,
};
pub use sandgate_jail::Layers;
pub use sandgate_jail::sys::keep_big_blocks;
pub use zygote::Preload;
