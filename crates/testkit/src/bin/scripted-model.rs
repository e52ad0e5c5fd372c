//! The scripted model as a program of its own, for tests that are not written in Rust.

#![forbid(unsafe_code)]

use std::io::{self, Write as _};

use clap::Parser;
use sandgate_testkit::ScriptedModel;

#[derive(Debug, Parser)]
#[command(about = "A model that says what a test told it to, for tests only")]
struct Options {
    /// The port to listen on; 0 takes a free one.
    #[arg(long, default_value_t = 0)]
    port: u16,
}

#[tokio::main]
async fn main() -> io::Result<()> {
    let options = Options::parse();
    let model = ScriptedModel::start_on(options.port).await?;
    let mut out = io::stdout();
    writeln!(out, "ready {}", model.url())?;
    out.flush()?;
    model.run().await;
    Ok(())
}
