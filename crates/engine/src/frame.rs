//! The frames between the engine and a kernel: length, kind, body. What comes from a kernel is hostile.

use std::collections::BTreeMap;

use bytes::{Buf, BufMut, Bytes, BytesMut};
use sandgate_core::{CodeError, MimeBundle};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// The longest frame; a kernel that announces more is ended before a byte of it is kept.
pub const MAX_FRAME: usize = 16 << 20;
/// How much of a rich value may be other than text. In memory it may take many times its length.
const MAX_JSON: usize = 1 << 20;
/// Kinds of one rich value.
const MAX_KINDS: usize = 64;
/// The longest error; an honest kernel cuts its own.
const MAX_ERROR: usize = 4 << 20;
const HEADER: usize = 4;

#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    #[error("a frame of {0} bytes is longer than allowed")]
    TooLong(usize),
    #[error("a frame without a kind")]
    Empty,
    #[error("a frame of unknown kind {0:#04x}")]
    UnknownKind(u8),
    #[error("a frame of kind {kind:#04x} that is not as agreed: {reason}")]
    Malformed { kind: u8, reason: String },
}

/// What a kernel says.
#[derive(Debug, PartialEq)]
pub enum FromKernel {
    Ready,
    Stdout(Bytes),
    Stderr(Bytes),
    Display(Shown),
    Result { shown: Shown, execution_count: u64 },
    Error(CodeError),
    Done { execution_count: u64, failed: bool },
}

/// A rich value, and how many bytes of it were left out because they were too large to read.
#[derive(Debug, Default, PartialEq)]
pub struct Shown {
    pub data: MimeBundle,
    pub left_out: u64,
}

/// What the engine says.
#[derive(Debug)]
pub enum ToKernel<'a> {
    Configure(Settings<'a>),
    /// `env` is for this run alone; with `chart_data`, figures and tables also come as their data.
    Execute {
        code: &'a str,
        env: &'a [(String, String)],
        chart_data: bool,
    },
}

/// What a kernel is told before it runs anything.
#[derive(Clone, Copy, Debug)]
pub struct Settings<'a> {
    pub env: &'a [(String, String)],
    pub cwd: &'a str,
    /// None: Python, which every kernel is until it hears otherwise.
    pub language: Option<&'a str>,
    /// The folder of the language's tools among the runtimes; None: it needs none.
    pub runtime: Option<&'a str>,
    /// Bytes of memory of the whole sandbox, for languages that plan ahead with it.
    pub memory: u64,
}

impl ToKernel<'_> {
    /// None only if the text cannot be JSON, which no string is.
    #[must_use]
    pub fn encode(&self) -> Option<Bytes> {
        #[derive(Serialize)]
        struct Configure<'a> {
            env: BTreeMap<&'a str, &'a str>,
            cwd: &'a str,
            #[serde(flatten)]
            language: Option<InLanguage<'a>>,
        }
        #[derive(Serialize)]
        struct InLanguage<'a> {
            language: &'a str,
            #[serde(skip_serializing_if = "Option::is_none")]
            runtime: Option<&'a str>,
            memory: u64,
        }
        #[derive(Serialize)]
        struct Execute<'a> {
            code: &'a str,
            #[serde(skip_serializing_if = "BTreeMap::is_empty")]
            env: BTreeMap<&'a str, &'a str>,
            #[serde(skip_serializing_if = "std::ops::Not::not")]
            chart_data: bool,
        }
        fn map(pairs: &[(String, String)]) -> BTreeMap<&str, &str> {
            pairs.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
        }
        let (kind, body) = match self {
            Self::Configure(Settings { env, cwd, language, runtime, memory }) => {
                let (runtime, memory) = (*runtime, *memory);
                let language = language.map(|language| InLanguage { language, runtime, memory });
                (0x01, serde_json::to_vec(&Configure { env: map(env), cwd, language }).ok()?)
            }
            Self::Execute { code, env, chart_data } => {
                let request = Execute { code, env: map(env), chart_data: *chart_data };
                (0x02, serde_json::to_vec(&request).ok()?)
            }
        };
        let mut frame = BytesMut::with_capacity(HEADER + 1 + body.len());
        frame.put_u32_le(u32::try_from(body.len() + 1).ok()?);
        frame.put_u8(kind);
        frame.put_slice(&body);
        Some(frame.freeze())
    }
}

/// Takes the next whole frame off the front of `buffer`, if there is one.
pub fn decode(buffer: &mut BytesMut) -> Result<Option<FromKernel>, FrameError> {
    let Some(header) = buffer.first_chunk::<HEADER>() else { return Ok(None) };
    let length = u32::from_le_bytes(*header) as usize;
    if length > MAX_FRAME {
        return Err(FrameError::TooLong(length));
    }
    if length == 0 {
        return Err(FrameError::Empty);
    }
    if buffer.len() < HEADER + length {
        return Ok(None);
    }
    buffer.advance(HEADER);
    let mut frame = buffer.split_to(length).freeze();
    let kind = frame.get_u8();
    parse(kind, frame).map(Some)
}

fn parse(kind: u8, body: Bytes) -> Result<FromKernel, FrameError> {
    #[derive(Deserialize)]
    struct Data<'a> {
        #[serde(borrow)]
        data: BTreeMap<String, &'a RawValue>,
        #[serde(default)]
        execution_count: u64,
    }
    #[derive(Deserialize)]
    struct Done {
        execution_count: u64,
        status: String,
    }
    fn json<'a, T: Deserialize<'a>>(kind: u8, body: &'a Bytes) -> Result<T, FrameError> {
        serde_json::from_slice(body)
            .map_err(|error| FrameError::Malformed { kind, reason: error.to_string() })
    }
    match kind {
        0x80 => Ok(FromKernel::Ready),
        0x81 => Ok(FromKernel::Stdout(body)),
        0x82 => Ok(FromKernel::Stderr(body)),
        0x83 => json::<Data<'_>>(kind, &body).map(|value| FromKernel::Display(shown(value.data))),
        0x84 => json::<Data<'_>>(kind, &body).map(|value| FromKernel::Result {
            execution_count: value.execution_count,
            shown: shown(value.data),
        }),
        0x85 if body.len() > MAX_ERROR => Err(FrameError::TooLong(body.len())),
        0x85 => json::<CodeError>(kind, &body).map(FromKernel::Error),
        0x86 => json::<Done>(kind, &body).map(|done| FromKernel::Done {
            execution_count: done.execution_count,
            failed: done.status != "ok",
        }),
        other => Err(FrameError::UnknownKind(other)),
    }
}

/// Reads text whatever its length, and anything else only while it is small.
fn shown(parts: BTreeMap<String, &RawValue>) -> Shown {
    let mut shown = Shown::default();
    let mut room = MAX_JSON;
    for (kind, raw) in parts {
        let text = raw.get().starts_with('"');
        let length = raw.get().len();
        let small = shown.data.len() < MAX_KINDS && (text || length <= room);
        if !text && small {
            room -= length;
        }
        let value = small.then(|| serde_json::from_str(raw.get()).ok()).flatten();
        match value {
            Some(value) => {
                shown.data.insert(kind, value);
            }
            None => shown.left_out += raw.get().len() as u64,
        }
    }
    shown
}

#[cfg(test)]
#[path = "frame_tests.rs"]
mod tests;
