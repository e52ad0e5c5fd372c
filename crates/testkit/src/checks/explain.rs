//! One sentence on why a value does not fit its schema: of all branches, the one that was meant.

use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind;

const LONGEST: usize = 300;

/// The first errors, each with its place. For a choice of kinds, those of the likeliest kind.
pub(super) fn explain(errors: &[ValidationError<'_>]) -> String {
    let mut found = Vec::new();
    for error in errors {
        describe(error, &mut found);
    }
    found.dedup();
    found.truncate(3);
    found.join("; ")
}

fn describe(error: &ValidationError<'_>, found: &mut Vec<String>) {
    if let ValidationErrorKind::AnyOf { context } = error.kind() {
        let likeliest = context.iter().filter(|branch| !branch.is_empty()).max_by_key(|branch| rank(branch));
        if let Some(branch) = likeliest {
            branch.iter().for_each(|error| describe(error, found));
            return;
        }
    }
    let place = error.instance_path().as_str();
    let place = if place.is_empty() { "the value itself" } else { place };
    let message = error.to_string();
    let short: String = message.chars().take(LONGEST).collect();
    found.push(format!("at {place}: {short}"));
}

/// A branch that fails on the kind of thing it is was not meant; of the others, the one that got deepest was.
fn rank(branch: &[ValidationError<'_>]) -> (bool, usize, usize) {
    let another_kind = branch.iter().any(|error| {
        let place = error.instance_path().as_str();
        let says_kind = place.ends_with("/type") || place.ends_with("/role");
        let missing_kind = error.to_string().contains("\"type\" is a required property");
        missing_kind || (says_kind && matches!(error.kind(), ValidationErrorKind::Enum { .. }))
    });
    let depth = branch.iter().map(|error| error.instance_path().as_str().matches('/').count()).max();
    (!another_kind, depth.unwrap_or(0), usize::MAX - branch.len())
}
