//! Which part of a file a client asks for.

use axum::http::HeaderMap;
use axum::http::header::RANGE;
use sandgate_core::ByteRange;

/// Which bytes are wanted of a file of this size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    Whole,
    Part(ByteRange),
    /// None that there are.
    Nothing,
}

impl Wanted {
    /// Several ranges at once are not worth the trouble: then the whole file is the answer, as the
    /// standard allows.
    pub(crate) fn read(headers: &HeaderMap, size: u64) -> Self {
        let range = headers.get(RANGE).and_then(|value| value.to_str().ok());
        let Some((first, last)) = range.and_then(|text| text.trim().strip_prefix("bytes=")?.split_once('-'))
        else {
            return Self::Whole;
        };
        match (first.trim().parse::<u64>(), last.trim().parse::<u64>()) {
            (Ok(first), Ok(last)) if first > last => Self::Whole,
            (Ok(first), _) if first >= size && is_number_or_nothing(last) => Self::Nothing,
            (Ok(first), Ok(last)) => {
                let end = last.min(size - 1);
                Self::Part(ByteRange { start: first, length: Some(end - first + 1) })
            }
            (Ok(first), Err(_)) if last.trim().is_empty() => {
                Self::Part(ByteRange { start: first, length: Some(size - first) })
            }
            // The last so many.
            (Err(_), Ok(count)) if first.trim().is_empty() => match count.min(size) {
                0 => Self::Nothing,
                count => Self::Part(ByteRange { start: size - count, length: Some(count) }),
            },
            _ => Self::Whole,
        }
    }

    /// The same of a file that has become shorter or longer meanwhile.
    pub(crate) fn within(self, size: u64) -> Self {
        let Self::Part(ByteRange { start, length }) = self else { return self };
        match size.saturating_sub(start) {
            0 => Self::Nothing,
            left => {
                let length = length.map_or(left, |length| length.min(left));
                Self::Part(ByteRange { start, length: Some(length) })
            }
        }
    }

    pub(crate) fn range(self) -> Option<ByteRange> {
        match self {
            Self::Part(range) => Some(range),
            Self::Whole | Self::Nothing => None,
        }
    }
}

fn is_number_or_nothing(text: &str) -> bool {
    text.trim().bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
#[path = "range_tests.rs"]
mod tests;
