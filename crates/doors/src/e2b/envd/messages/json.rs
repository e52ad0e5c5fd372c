//! Where the JSON form of protobuf differs from plain JSON: bytes are base64, 64-bit numbers and enums are
//! text, what has its default is left out, and numbers may come as text.

use std::fmt;

use serde::de::{Error, Visitor};
use serde::{Deserializer, Serializer};

/// What is left out.
pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// A 64-bit number as text: a double could not hold it.
pub(crate) fn long<S: Serializer>(value: &i64, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(value)
}

/// A number, or the same as text.
pub(crate) fn number<'de, D: Deserializer<'de>>(from: D) -> Result<u32, D::Error> {
    struct Number;
    impl Visitor<'_> for Number {
        type Value = u32;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a number from 0 to 4294967295")
        }
        fn visit_u64<E: Error>(self, value: u64) -> Result<u32, E> {
            u32::try_from(value).map_err(|_| E::custom(format_args!("{value} is out of range")))
        }
        fn visit_i64<E: Error>(self, value: i64) -> Result<u32, E> {
            u32::try_from(value).map_err(|_| E::custom(format_args!("{value} is out of range")))
        }
        fn visit_f64<E: Error>(self, value: f64) -> Result<u32, E> {
            if value.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&value) {
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "checked above"
                )]
                return Ok(value as u32);
            }
            Err(E::custom(format_args!("{value} is not a number of this field")))
        }
        fn visit_str<E: Error>(self, text: &str) -> Result<u32, E> {
            text.parse().map_err(|_| E::custom("text that is not a number of this field"))
        }
    }
    from.deserialize_any(Number)
}

/// `bytes` fields.
pub(crate) mod base64 {
    use base64::Engine;
    use base64::alphabet;
    use base64::engine::DecodePaddingMode;
    use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig, STANDARD};
    use bytes::Bytes;
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    const LENIENT: GeneralPurposeConfig =
        GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
    /// Either alphabet is allowed on the way in, with padding or without.
    const EITHER: [GeneralPurpose; 2] = [
        GeneralPurpose::new(&alphabet::STANDARD, LENIENT),
        GeneralPurpose::new(&alphabet::URL_SAFE, LENIENT),
    ];

    pub(crate) fn serialize<S: Serializer>(value: &Bytes, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&STANDARD.encode(value))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Bytes, D::Error> {
        let text = String::deserialize(from)?;
        let decoded = EITHER.iter().find_map(|alphabet| alphabet.decode(&text).ok());
        decoded.map(Bytes::from).ok_or_else(|| D::Error::custom("bytes must be base64"))
    }
}
