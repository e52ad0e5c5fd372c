//! Names of things. Each is a newtype, so that a context can never be passed where a container is meant.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::registry::now_micros;

/// Lower-case hex of `bytes` random bytes from the operating system.
#[must_use]
pub fn random_hex(bytes: usize) -> String {
    let mut raw = vec![0u8; bytes];
    fill_random(&mut raw);
    raw.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// `length` random letters and digits, none likelier than another.
#[must_use]
pub fn random_alphanumeric(length: usize) -> String {
    const LETTERS: &[u8; 62] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    let mut text = String::with_capacity(length);
    let mut raw = [0u8; 64];
    while text.len() < length {
        fill_random(&mut raw);
        // 248 is four times 62: what lies above would favour the first letters.
        let fair =
            raw.iter().filter(|byte| **byte < 248).map(|byte| char::from(LETTERS[usize::from(byte % 62)]));
        text.extend(fair.take(length - text.len()));
    }
    text
}

fn fill_random(raw: &mut [u8]) {
    // The kernel's generator does not fail once the system has booted; if it ever did, an id that
    // can be guessed would be worse than stopping here.
    #[expect(clippy::expect_used, reason = "no safe way on without random ids")]
    getrandom::fill(raw).expect("the operating system gives random bytes");
}

#[derive(Debug, thiserror::Error)]
#[error("'{0}' is not a valid id: letters, digits, '-' and '_' only, 64 at most")]
pub struct InvalidId(String);

/// Ids become file names and cgroup names, so only harmless characters are let in.
fn checked(text: &str) -> Result<String, InvalidId> {
    let harmless = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if text.is_empty() || text.len() > 64 || !text.chars().all(harmless) {
        return Err(InvalidId(text.chars().take(80).collect()));
    }
    Ok(text.to_owned())
}

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(String);

        impl $name {
            pub fn parse(text: &str) -> Result<Self, InvalidId> {
                checked(text).map(Self)
            }
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
        impl TryFrom<String> for $name {
            type Error = InvalidId;
            fn try_from(text: String) -> Result<Self, InvalidId> {
                Self::parse(&text)
            }
        }
        impl From<$name> for String {
            fn from(id: $name) -> String {
                id.0
            }
        }
    };
}

id! {
    /// What a client addresses: has files and an owner, outlives its process.
    ContainerId
}
id! {
    /// A running isolated place on a backend; the backend chooses the name.
    SandboxId
}
id! {
    /// One interpreter with its state inside a sandbox.
    ContextId
}

impl ContainerId {
    #[must_use]
    pub fn random() -> Self {
        // The time comes first, as in OpenAI's own ids, here down to the microsecond: ids sort by age.
        let micros = now_micros();
        let (seconds, rest) = ((micros / 1_000_000) & 0xffff_ffff, micros % 1_000_000);
        let mut random = random_hex(18);
        random.truncate(35);
        Self(format!("cntr_{seconds:08x}{rest:05x}{random}"))
    }
}

impl SandboxId {
    #[must_use]
    pub fn random() -> Self {
        Self(format!("sbx_{}", random_hex(12)))
    }
}

impl ContextId {
    /// The context an execution uses when it names none.
    #[must_use]
    pub fn default_context() -> Self {
        Self("default".to_owned())
    }

    /// Where code goes that names a language and no context. Python's is the default one, and the others stand beside
    /// it. `language` is the name of one, as a sandbox gives it.
    #[must_use]
    pub fn default_of(language: &str) -> Self {
        let plain = Self::default_context();
        match language {
            "python" => plain,
            other => Self::parse(&format!("{plain}-{other}")).unwrap_or(plain),
        }
    }
}
