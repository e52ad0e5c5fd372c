//! What a provider cannot do, by name, with the reason: the documentation has the same table.

use crate::common::Kind;

pub(crate) struct Exception {
    pub(crate) backend: &'static str,
    pub(crate) case: &'static str,
    pub(crate) reason: &'static str,
}

pub(crate) const EXCEPTIONS: &[Exception] = &[
    Exception {
        backend: "daytona",
        case: "interrupt_keeps_the_state",
        reason: "its protocol has no way to stop code but to end its context, with what it knew",
    },
    Exception {
        backend: "opensandbox",
        case: "variables_of_one_run",
        reason: "its protocol has variables for a sandbox, none for one run",
    },
];

pub(crate) fn of(kind: Kind, case: &str) -> Option<&'static Exception> {
    EXCEPTIONS.iter().find(|exception| exception.backend == kind.name() && exception.case == case)
}
