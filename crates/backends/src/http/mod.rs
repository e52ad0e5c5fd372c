//! The way to a provider: pooled connections, deadlines, bodies that are read within bounds.
