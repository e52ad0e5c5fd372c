//! What is printed, and where it goes.

use std::sync::{Arc, Mutex};

use super::*;

#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What both streams hold after `work`, in one when on a terminal.
fn printed(terminal: bool, work: impl FnOnce(&mut Printer)) -> (String, String) {
    let (out, err) = (Shared::default(), Shared::default());
    let err = if terminal { out.clone() } else { err };
    let mut printer = Printer {
        out: Stream::new(Box::new(out.clone()), terminal),
        err: Stream::new(Box::new(err.clone()), terminal),
    };
    work(&mut printer);
    let text = |shared: Shared| String::from_utf8(shared.0.lock().unwrap().clone()).unwrap();
    (text(out), text(err))
}

#[test]
fn a_value_gets_its_own_line() {
    let (out, _) = printed(false, |printer| {
        printer.stdout("no newline").unwrap();
        printer.value("42").unwrap();
        printer.value("43").unwrap();
    });
    assert_eq!(out, "no newline\n42\n43\n");
}

#[test]
fn colours_of_tracebacks_are_for_terminals() {
    let lines = ["\x1b[31mboom\x1b[0m".to_owned()];
    assert_eq!(printed(false, |printer| printer.traceback(&lines)).1, "boom\n");
    assert_eq!(printed(true, |printer| printer.traceback(&lines)).1, "\x1b[31mboom\x1b[0m\n");
}

#[test]
fn on_a_terminal_a_message_does_not_continue_the_output() {
    let work = |printer: &mut Printer| {
        printer.stdout("50 %").unwrap();
        printer.say("stopped");
    };
    assert_eq!(printed(true, work).0, "50 %\nsandgate: stopped\n");
    assert_eq!(printed(false, work).0, "50 %");
}

#[test]
fn bytes_for_a_pipe_are_left_alone() {
    let (out, _) = printed(false, |printer| printer.stdout("\x1b]0;x\x07").unwrap());
    assert_eq!(out, "\x1b]0;x\x07");
}
