//! One reading of a body for everybody. A body that is passed on is read here and again by the upstream; a field
//! that stands in it twice, or in other letters, could be one thing here and another there, and a tool, a model or
//! somebody else's response would slip by. Such a body is refused.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use crate::openai::{ApiError, ApiResult};

pub(super) const MODEL: &str = "model";
/// Fields of a request by which it is decided who answers it.
const OF_A_REQUEST: [&str; 6] = [MODEL, "tools", "input", "messages", "previous_response_id", "conversation"];
/// Fields of a tool, or of an item that brings tools.
const OF_AN_ENTRY: [&str; 3] = ["type", "tools", "environment"];

/// What a body was found to hold.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Every field that some reader of JSON might take for the model.
    pub(super) models: Vec<(bool, Value)>,
    /// The first field that two readers might understand differently.
    unclear: Option<&'static str>,
}

/// The body of a request that may name tools.
pub(super) fn read(body: &[u8]) -> ApiResult<Found> {
    let mut found = Found::default();
    let mut reader = serde_json::Deserializer::from_slice(body);
    let read = Level { names: &OF_A_REQUEST, found: &mut found }.deserialize(&mut reader);
    read.and_then(|()| reader.end()).map_err(|error| {
        if error.is_data() {
            return no_object();
        }
        let message = format!("We could not parse the JSON body of your request: {error}.");
        ApiError::bad_request(message).coded("invalid_json")
    })?;
    match found.unclear {
        Some(name) if name != MODEL => {
            let message = format!(
                "The parameter '{name}' was given more than once, or in other letters. Give it once, as '{name}'."
            );
            Err(ApiError::bad_request(message).about(name))
        }
        _ => Ok(found),
    }
}

/// The body of a request that can name nothing but a model.
pub(super) fn read_model(body: &[u8]) -> ApiResult<Found> {
    let mut found = Found::default();
    let mut reader = serde_json::Deserializer::from_slice(body);
    let read = Level { names: &[MODEL], found: &mut found }.deserialize(&mut reader);
    // What is no JSON object is refused by whoever reads it whole, and passed on to nobody.
    read.map_err(|_| no_object())?;
    Ok(found)
}

fn no_object() -> ApiError {
    ApiError::bad_request("The body of your request must be a JSON object.")
}

/// An object whose fields of these names are looked at.
struct Level<'a> {
    names: &'static [&'static str],
    found: &'a mut Found,
}

impl<'de> DeserializeSeed<'de> for Level<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<(), D::Error> {
        reader.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Level<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut seen: u8 = 0;
        while let Some(known) = map.next_key_seed(Name(self.names))? {
            let Some(Known { place, is_exact }) = known else {
                map.next_value::<IgnoredAny>()?;
                continue;
            };
            let Some(name) = self.names.get(place) else { continue };
            if !is_exact || seen & (1 << place) != 0 {
                self.found.unclear.get_or_insert(name);
            }
            seen |= 1 << place;
            match *name {
                MODEL => self.found.models.push((is_exact, map.next_value()?)),
                "tools" | "input" => map.next_value_seed(Entries(&mut *self.found))?,
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }
}

/// A list of tools or items, each of which may be an object. Whatever else stands there has no fields.
struct Entries<'a>(&'a mut Found);

impl<'de> DeserializeSeed<'de> for Entries<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<(), D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Entries<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while list.next_element_seed(Entries(&mut *self.0))?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<(), A::Error> {
        Level { names: &OF_AN_ENTRY, found: self.0 }.visit_map(map)
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
}

/// The name of a field, where it is one of these.
struct Name(&'static [&'static str]);

struct Known {
    place: usize,
    is_exact: bool,
}

impl<'de> DeserializeSeed<'de> for Name {
    type Value = Option<Known>;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Option<Known>, D::Error> {
        reader.deserialize_str(self)
    }
}

impl Visitor<'_> for Name {
    type Value = Option<Known>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a field")
    }

    fn visit_str<E>(self, text: &str) -> Result<Option<Known>, E> {
        let place = self.0.iter().position(|name| is_like(text, name));
        Ok(place.map(|place| Known { place, is_exact: self.0.get(place) == Some(&text) }))
    }
}

/// As a reader compares that does not care for the size of letters: a long s and the sign of the kelvin are
/// letters to it.
fn is_like(text: &str, name: &str) -> bool {
    text.eq_ignore_ascii_case(name)
        || (!text.is_ascii()
            && text.replace('\u{17f}', "s").replace('\u{212a}', "k").eq_ignore_ascii_case(name))
}

#[cfg(test)]
#[path = "reading_tests.rs"]
mod tests;
