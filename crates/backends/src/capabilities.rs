//! What a provider's protocol can do by itself. What it cannot is made up for where that is possible, or refused
//! with a clear word; the table in the documentation is made from this.

use std::time::Duration;

#[derive(Clone, Debug, PartialEq)]
pub struct Capabilities {
    /// What runs Python there, and so what its output can hold.
    pub interpreter: Interpreter,
    /// Values of last expressions come with the output.
    pub last_value: bool,
    /// A value that is a text comes without the quotes around it, unless the interpreter is taught to put two.
    pub strips_quotes: bool,
    /// What code displays (figures, tables) comes with the output.
    pub display: bool,
    /// An error's name, value and traceback come apart from the text.
    pub structured_errors: bool,
    /// Languages that `Run` and `ContextWish` may name; the first is the default. Only `python` where others are
    /// not promised.
    pub languages: &'static [&'static str],
    /// Those of them in which every run begins anew: they have no contexts.
    pub stateless: &'static [&'static str],
    /// An interpreter for Python is there from the start, or is begun by the first run that names no context, and
    /// can be used sooner than a new one.
    pub first_context: bool,
    /// Several interpreters side by side.
    pub contexts: bool,
    /// Variables for one run alone.
    pub run_env: bool,
    /// Running code can be stopped without losing the interpreter.
    pub interrupt: bool,
    /// The provider is told by hanging up, and says nothing of whether the code has ended then.
    pub interrupt_by_hanging_up: bool,
    /// The provider itself ends code at `Run::timeout`.
    pub run_timeout: bool,
    /// Processes can be frozen and come back as they were.
    pub pause: bool,
    /// What is paused has no end to be moved. Otherwise it dies when its time is over, like any other.
    pub pause_stops_clock: bool,
    /// The end of a sandbox can be moved while it lives.
    pub extend: bool,
    /// A sandbox carries metadata by which it is found again: without it nothing can be cleaned up after a crash.
    pub metadata: bool,
    /// Memory, processor, disk: whether `Wish` decides. Otherwise template or snapshot does.
    pub memory_limit: bool,
    pub cpu_limit: bool,
    pub disk_limit: bool,
    pub network: NetworkControl,
    /// Commands and terminals (`Place::processes`).
    pub processes: bool,
    /// Files outside the working folder, watches, ports (`Place::inside`).
    pub inside: bool,
    /// The longest life that may be asked for at once; None: the provider says no if it is too long.
    pub longest_life: Option<Duration>,
    /// The shortest that it accepts.
    pub shortest_life: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interpreter {
    /// A Jupyter kernel, or what behaves as one: `get_ipython()` is there.
    IPython,
    /// Code is executed as it is, by `exec` or the like.
    Plain,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NetworkControl {
    /// All or nothing.
    Switch,
    /// Names and addresses that may be reached.
    Rules,
    /// Whatever the provider does.
    None,
}
