//! What a key is to be, read from a form; refused where it cannot be.

use sandgate_core::KeyLimits;
use sandgate_doors::admin::{check_name, check_owner};
use sandgate_store::NewKey;

use super::form::MIB;
use crate::fields::Fields;
use crate::problem::Problem;

const SECONDS_OF_A_DAY: u64 = 24 * 60 * 60;

pub(super) fn new(fields: &Fields) -> Result<NewKey, Problem> {
    let name = fields.typed("name").unwrap_or_default();
    check_name(name).map_err(|reason| invalid("name", &reason))?;
    let owner = fields.typed("owner").map(check_owner).transpose();
    let owner = owner.map_err(|reason| invalid("owner", &reason))?;
    let days = number::<u64>(fields, "days")?;
    if days == Some(0) {
        return Err(invalid("days", "a key lasts a day at least"));
    }
    Ok(NewKey {
        name: name.to_owned(),
        owner,
        expires_in_seconds: days.map(|days| days.saturating_mul(SECONDS_OF_A_DAY)),
        limits: limits(fields)?,
    })
}

pub(super) fn limits(fields: &Fields) -> Result<KeyLimits, Problem> {
    let words = |name| {
        let text = fields.typed(name)?;
        Some(text.split(',').map(str::trim).filter(|word| !word.is_empty()).map(str::to_owned).collect())
    };
    let limits = KeyLimits {
        models: words("models"),
        network: words("network"),
        requests_per_minute: number(fields, "requests_per_minute")?,
        executions: number(fields, "executions")?,
        sandboxes: number(fields, "sandboxes")?,
        containers: number(fields, "containers")?,
        memory_bytes: number::<u64>(fields, "memory_mib")?.map(|mib| mib.saturating_mul(MIB)),
        log_code: match fields.get("log_code") {
            None => None,
            Some("yes") => Some(true),
            Some("no") => Some(false),
            Some(_) => return Err(invalid("log_code", "yes or no is wanted")),
        },
        console: fields.get("console").is_some(),
        ..KeyLimits::default()
    };
    limits.check().map_err(|error| Problem::Invalid(format!("{error}.")))?;
    Ok(limits)
}

fn number<T: std::str::FromStr>(fields: &Fields, name: &str) -> Result<Option<T>, Problem> {
    let parsed = fields.typed(name).map(str::parse).transpose();
    parsed.map_err(|_| invalid(name, "a whole number is wanted"))
}

fn invalid(name: &str, reason: &str) -> Problem {
    Problem::Invalid(format!("'{name}' cannot be used: {reason}."))
}
