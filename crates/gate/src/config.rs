//! The gate's own limits and habits.

use std::time::Duration;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GateConfig {
    /// Turns of one response in which code may run.
    pub rounds: u32,
    /// Wall time of one execution; never more than the sandbox's own.
    pub execution: Duration,
    /// Wall time of one response, models and code together.
    pub total: Duration,
    /// Bytes of an execution's output that the model is shown.
    pub model_output_bytes: usize,
    /// Executions of one owner at once; more wait their turn.
    pub executions_per_owner: usize,
    /// The most memory a request may give a container.
    pub max_memory: u64,
    /// An expired container is an error, as it is in the original, instead of being revived.
    pub strict: bool,
}

impl Default for GateConfig {
    fn default() -> Self {
        Self {
            rounds: 20,
            execution: Duration::from_secs(60),
            total: Duration::from_secs(60 * 60),
            model_output_bytes: 32 << 10,
            executions_per_owner: 64,
            max_memory: 4 << 30,
            strict: false,
        }
    }
}
