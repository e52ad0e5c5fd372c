//! Secrets that code in a sandbox may use without knowing them: inside there is a placeholder, and the egress puts
//! the value in its place in requests to the one domain it is for. Values live in memory alone; a server that was
//! started again does not have them any more, and says so.

use serde::{Deserialize, Serialize};

use super::reserved::reserved;
use super::{HostPattern, InvalidTarget, Target};
use crate::{Secret, random_hex};

/// Tokens are shorter. What stands at the end of an answer is held back for as long as it could be one of this length,
/// however long it is, so that nobody can see how long that is.
pub const LONGEST_SECRET: usize = 2 << 10;
/// What is shorter stands in answers by chance, and each such place would get the placeholder.
const SHORTEST_VALUE: usize = 8;
const MARK: &str = "sandgate-secret-";

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DomainSecret {
    pub domain: SecretDomain,
    /// The environment variable that holds the placeholder inside.
    pub name: String,
    /// What stands for the value inside: random, and worth nothing anywhere else.
    pub placeholder: String,
    /// Never written anywhere; None once it was read back from somewhere.
    #[serde(skip)]
    pub value: Option<Secret>,
}

/// A name or `*.name`, without ports.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SecretDomain(HostPattern);

impl std::ops::Deref for SecretDomain {
    type Target = HostPattern;
    fn deref(&self) -> &HostPattern {
        &self.0
    }
}

impl TryFrom<String> for SecretDomain {
    type Error = InvalidTarget;
    fn try_from(text: String) -> Result<Self, InvalidTarget> {
        text.parse().map(Self)
    }
}

impl From<SecretDomain> for String {
    fn from(domain: SecretDomain) -> Self {
        domain.0.to_string()
    }
}

impl DomainSecret {
    pub fn new(domain: &str, name: String, value: Secret) -> Result<Self, InvalidTarget> {
        let domain = SecretDomain(domain.parse()?);
        let placeholder = format!("{MARK}{}", random_hex(20));
        let secret = Self { domain, name, placeholder, value: Some(value) };
        secret.check()?;
        Ok(secret)
    }

    pub(super) fn check(&self) -> Result<(), InvalidTarget> {
        let word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        let named = !self.name.is_empty()
            && self.name.len() <= 128
            && self.name.bytes().all(word)
            && !self.name.starts_with(|first: char| first.is_ascii_digit());
        if !named {
            return Err(InvalidTarget::SecretName(super::name::shortened(&self.name)));
        }
        if let Some(why) = reserved(&self.name) {
            return Err(InvalidTarget::ReservedSecretName { name: self.name.clone(), why });
        }
        let wrong = |why| Err(InvalidTarget::SecretValue(self.name.clone(), why));
        match self.value.as_ref().map(Secret::expose) {
            Some("") => wrong("is empty"),
            Some(value) if value.len() < SHORTEST_VALUE => {
                wrong("is shorter than 8 bytes, and would be found in answers where it is not meant")
            }
            Some(value) if value.len() > LONGEST_SECRET => wrong("is longer than 2 KiB"),
            // It goes into a header: a line end would be a header of its own. Letters of other scripts are sent as
            // several bytes there, and a server that repeats them writes each as a letter.
            Some(value) if !value.bytes().all(|byte| matches!(byte, b' '..=b'~')) => {
                wrong("holds something else than printable ASCII, which not every header may")
            }
            _ => Ok(()),
        }
    }

    /// Whether a rule lets requests reach the domain at all.
    #[must_use]
    pub fn is_within(&self, allowed: &Target) -> bool {
        allowed.names().is_some_and(|own| own.covers(&self.domain))
    }
}

#[cfg(test)]
#[path = "secrets_tests.rs"]
mod tests;
