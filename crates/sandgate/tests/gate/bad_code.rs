//! Code that goes wrong: dies, hangs, prints too much.
