//! Every case on every backend.

use crate::common::{Kind, run, target};
use crate::{cases, exceptions};

macro_rules! suite {
    ($($case:ident)*) => {
        const CASES: &[&str] = &[$(stringify!($case)),*];
        suite!(@backend embedded Embedded $($case)*);
        suite!(@backend e2b_at_one_address E2bAtOneAddress $($case)*);
        suite!(@backend e2b_by_domain E2bByDomain $($case)*);
        suite!(@backend opensandbox_direct OpenSandboxDirect $($case)*);
        suite!(@backend opensandbox_proxy OpenSandboxProxy $($case)*);
        suite!(@backend daytona Daytona $($case)*);
    };
    (@backend $module:ident $kind:ident $($case:ident)*) => {
        mod $module {
            use super::*;
            $(
                #[test]
                fn $case() {
                    if exceptions::of(Kind::$kind, stringify!($case)).is_none() {
                        run(async { cases::$case(target(Kind::$kind).await).await });
                    }
                }
            )*
        }
    };
}

suite! {
    state_lasts
    last_value
    output_in_order
    output_streams
    traceback
    awaited_at_the_top
    exit_is_an_error
    semicolon_hides_the_value
    figure
    displayed
    files_in_and_out
    files_listed
    changes_told
    binary_files
    unicode
    contexts
    timeout_ends_code
    timeout_ends_code_that_will_not_hear
    another_language
    many_files
    interrupt_keeps_the_state
    hang_up_ends_code
    much_output
    variables
    variables_of_one_run
    interpreter_dies
    no_network
    lost_sandbox
    upload_after_a_restart
    delete_leaves_nothing
}

/// What is not run has a reason, and the documentation says it.
#[test]
fn exceptions_are_known_and_documented() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/backends.md");
    let page = std::fs::read_to_string(page).expect("the page about backends");
    for exception in exceptions::EXCEPTIONS {
        assert!(CASES.contains(&exception.case), "there is no case '{}'", exception.case);
        assert!(Kind::ALL.iter().any(|kind| kind.name() == exception.backend), "{}", exception.backend);
        let line = format!("| {} | `{}` | {} |", exception.backend, exception.case, exception.reason);
        assert!(page.contains(&line), "docs/backends.md lacks this line:\n{line}");
    }
}
