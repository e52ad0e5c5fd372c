//! The scripted model, seen from a client.

#[cfg(test)]
mod chat;
#[cfg(test)]
mod client;
#[cfg(test)]
mod delivery;
#[cfg(test)]
mod responses;
