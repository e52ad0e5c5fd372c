//! What clients write to a process: a piece at a time, or as a stream that keeps its order.

use bytes::Bytes;
use sandgate_core::{ProcessRef, Processes};

use super::super::connect::{Call, Frames};
use super::super::messages::process::{
    Empty, Input, ProcessInput, SendInputRequest, StreamInput, StreamInputRequest,
};
use super::super::refusal::Refusal;
use super::{not_found, selected};

pub(super) async fn send(call: Call, ask: SendInputRequest) -> Result<Empty, Refusal> {
    let which = selected(ask.process)?;
    let bytes = bytes_of(ask.input)?;
    write(&*call.guest.processes().await?, &which, bytes).await?;
    Ok(Empty {})
}

pub(super) async fn stream(call: Call, mut frames: Frames) -> Result<Empty, Refusal> {
    let processes = call.guest.processes().await?;
    let mut which = None;
    while let Some(StreamInputRequest { event }) = frames.next().await? {
        match event {
            Some(StreamInput::Start(start)) => which = Some(selected(start.process)?),
            Some(StreamInput::Data(data)) => {
                let which =
                    which.as_ref().ok_or_else(|| Refusal::invalid("the stream must begin with 'start'"))?;
                write(&*processes, which, bytes_of(data.input)?).await?;
            }
            Some(StreamInput::Keepalive(_)) => {}
            None => return Err(Refusal::invalid("a message of the stream must be 'start' or 'data'")),
        }
    }
    Ok(Empty {})
}

fn bytes_of(input: Option<ProcessInput>) -> Result<Bytes, Refusal> {
    match input.and_then(|input| input.input) {
        Some(Input::Stdin(bytes) | Input::Pty(bytes)) => Ok(bytes),
        None => Err(Refusal::invalid("give what to write as 'stdin' or 'pty', in base64")),
    }
}

async fn write(processes: &dyn Processes, which: &ProcessRef, bytes: Bytes) -> Result<(), Refusal> {
    processes.write(which, bytes).await.map_err(|error| not_found(error, which))
}
