//! Line and column of every key of a YAML text, for mistakes that are found after it was read.

use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_saphyr::Spanned;

use super::key_path::{KeyPath, Step};

#[derive(Debug, Default)]
pub(crate) struct Places(Option<Tree>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) line: u64,
    pub(crate) column: u64,
}

type Tree = Spanned<Node>;

#[derive(Debug)]
enum Node {
    Map(Vec<(Spanned<String>, Tree)>),
    List(Vec<Tree>),
    Leaf,
}

impl Places {
    /// Of a text that can be read; otherwise nothing has a place.
    pub(crate) fn of(text: &str) -> Self {
        Self(serde_saphyr::from_str(text).ok())
    }

    /// Of the value, or of the nearest key above it that is there.
    pub(crate) fn find(&self, path: &KeyPath) -> Place {
        let mut place = Place { line: 1, column: 1 };
        let Some(mut tree) = self.0.as_ref() else { return place };
        for step in path.steps() {
            let below = match (&tree.value, step) {
                (Node::Map(entries), Step::Key(key)) => {
                    entries.iter().find(|(name, _)| name.value == *key).map(|(name, below)| {
                        let is_leaf = matches!(below.value, Node::Leaf);
                        (below, if is_leaf { place_of(below) } else { place_of(name) })
                    })
                }
                (Node::List(items), Step::Index(index)) => {
                    items.get(*index).map(|below| (below, place_of(below)))
                }
                _ => None,
            };
            let Some((below, its)) = below else { break };
            (tree, place) = (below, its);
        }
        place
    }
}

fn place_of<T>(spanned: &Spanned<T>) -> Place {
    Place { line: spanned.referenced.line().max(1), column: spanned.referenced.column().max(1) }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(NodeVisitor)
    }
}

struct NodeVisitor;

impl<'de> Visitor<'de> for NodeVisitor {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anything")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Node, A::Error> {
        let mut entries = Vec::new();
        while let Some(key) = map.next_key()? {
            entries.push((key, map.next_value()?));
        }
        Ok(Node::Map(entries))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Node, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = list.next_element()? {
            items.push(item);
        }
        Ok(Node::List(items))
    }

    fn visit_some<D: Deserializer<'de>>(self, from: D) -> Result<Node, D::Error> {
        IgnoredAny::deserialize(from).map(|_| Node::Leaf)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Node, E> {
        Ok(Node::Leaf)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Node, E> {
        Ok(Node::Leaf)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Node, E> {
        Ok(Node::Leaf)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Node, E> {
        Ok(Node::Leaf)
    }

    fn visit_str<E>(self, _: &str) -> Result<Node, E> {
        Ok(Node::Leaf)
    }

    fn visit_unit<E>(self) -> Result<Node, E> {
        Ok(Node::Leaf)
    }

    fn visit_none<E>(self) -> Result<Node, E> {
        Ok(Node::Leaf)
    }
}

#[cfg(test)]
#[path = "places_tests.rs"]
mod tests;
