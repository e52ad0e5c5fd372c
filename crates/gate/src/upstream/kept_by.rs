//! Where something is that an upstream keeps, when there are several upstreams.

/// In the extensions of a request that is passed on: who has what it is about. Where its body names no model it
/// goes there; where it does, they are asked first among those that have the model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeptBy {
    /// By its name; None: nobody knows.
    pub upstream: Option<String>,
    /// The model as the client calls it.
    pub model: Option<String>,
}

/// In the extensions of an answer that is passed back: the name of the upstream that gave it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CameFrom(pub String);
