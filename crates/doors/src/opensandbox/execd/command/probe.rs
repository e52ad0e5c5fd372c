//! What `CodeInterpreter.create` asks before it lets anybody run code: whether something listens where the original
//! has its Jupyter. It is asked by a command, which runs as any other does; something listens there from when it is
//! first asked.

use super::super::guest::Guest;

const PORT: &str = "JUPYTER_PORT";

pub(super) async fn prepare(guest: &Guest, content: &str) {
    if content.contains(PORT) {
        guest.target.interpreter_listens().await;
    }
}
