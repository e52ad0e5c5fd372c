//! One execution from its code to its last event: passes on what the kernel says, keeps the limits, and
//! finds out how it ended.

use std::time::Duration;

use sandgate_core::{
    BackendError, Ending, Event, ExecuteRequest, LimitKind, Limits, Note, Result, Stop, human_bytes,
};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until, timeout_at};

use crate::frame::{FromKernel, ToKernel};
use crate::kernel::Kernel;
use crate::output::{OutputMeter, TextDecoder};
use crate::sandbox::pipes::PipeTurn;

/// How long code may ignore an interrupt before its interpreter is ended.
const GRACE: Duration = Duration::from_secs(2);
/// How often an interrupted interpreter is woken, in case it fell asleep in the very moment.
const NUDGE_INTERVAL: Duration = Duration::from_millis(100);
/// How often the disk is looked at while code runs.
const DISK_INTERVAL: Duration = Duration::from_millis(250);

/// Frames handled before everything else gets its turn.
const FRAMES_A_TURN: usize = 256;
/// Frames that are still read of a process that has ended.
const LAST_FRAMES: usize = 100_000;

/// Bytes of an error's name and message.
const MAX_ERROR_NAME: usize = 256;
const MAX_ERROR_VALUE: usize = 16 * 1024;

/// Why the engine stops a run that would go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stopped {
    Timeout,
    Asked,
    Killed,
    Output,
    Disk,
}

/// What a run needs of its sandbox.
pub(super) trait Surroundings: Sync {
    /// Whether the sandbox stands still, so that no time passes for it.
    fn is_paused(&self) -> bool;
    /// Whether the disk limit is broken now.
    fn disk_is_over(&self) -> impl Future<Output = bool> + Send;
    /// Whether the kernel has killed a process of the sandbox for memory since the last time it was asked.
    fn killed_for_memory(&self) -> impl Future<Output = bool> + Send;
}

/// How a run ended.
#[derive(Debug)]
pub(super) struct Finished {
    pub(super) ending: Ending,
    pub(super) text: String,
    pub(super) execution_count: u64,
    /// The interpreter is gone.
    pub(super) kernel_lost: bool,
}

pub(super) struct Run<'a> {
    kernel: &'a mut Kernel,
    limits: &'a Limits,
    timeout: Duration,
    events: &'a mpsc::Sender<Event>,
    stops: &'a mut mpsc::UnboundedReceiver<Stop>,
    meter: OutputMeter,
    stdout: TextDecoder,
    stderr: TextDecoder,
    /// When its time is up.
    deadline: Instant,
    stopped: Option<Stopped>,
    /// When patience with an interrupted run ends.
    kill_at: Option<Instant>,
    /// When an interrupted run is woken next.
    nudge_at: Option<Instant>,
    /// The news of its process's end has come; it comes once.
    exit_known: bool,
    /// How it ended.
    status: Option<i32>,
    client_left: bool,
    error_told: bool,
}

/// What a frame or signal means for the loop.
enum Next {
    Go,
    Done { execution_count: u64, failed: bool },
    Died,
}

impl<'a> Run<'a> {
    pub(super) fn new(
        kernel: &'a mut Kernel,
        limits: &'a Limits,
        timeout: Duration,
        events: &'a mpsc::Sender<Event>,
        stops: &'a mut mpsc::UnboundedReceiver<Stop>,
    ) -> Self {
        Self {
            kernel,
            limits,
            timeout,
            events,
            stops,
            meter: OutputMeter::new(limits.output_bytes),
            stdout: TextDecoder::default(),
            stderr: TextDecoder::default(),
            deadline: Instant::now() + timeout,
            stopped: None,
            kill_at: None,
            nudge_at: None,
            exit_known: false,
            status: None,
            client_left: false,
            error_told: false,
        }
    }

    pub(super) async fn go(
        mut self,
        request: &ExecuteRequest,
        around: &impl Surroundings,
    ) -> Result<Finished> {
        self.deadline = Instant::now() + self.timeout;
        let ExecuteRequest { code, env, with_chart_data: chart_data, .. } = request;
        let message = ToKernel::Execute { code, env, chart_data: *chart_data };
        let sent = timeout_at(self.deadline, self.kernel.control.send(&message)).await;
        let next = match sent {
            Ok(Ok(())) => self.listen(around).await?,
            // The interpreter went away between two runs, or something inside holds its socket.
            Ok(Err(_)) | Err(_) => Next::Died,
        };
        self.last_output().await;
        if let Some(text) = self.meter.trimmed() {
            self.emit(Event::Note { note: Note::OutputTrimmed, text }).await;
        }
        match next {
            Next::Done { execution_count, failed } => Ok(self.ended_itself(execution_count, failed)),
            Next::Died | Next::Go => self.died(around).await,
        }
    }

    async fn listen(&mut self, around: &impl Surroundings) -> Result<Next> {
        let mut turn = PipeTurn::default();
        let mut disk_check = Instant::now() + DISK_INTERVAL;
        let mut last_look = Instant::now();
        loop {
            if around.is_paused() {
                self.deadline += last_look.elapsed();
            }
            last_look = Instant::now();
            let deadline = self.deadline;
            let kernel = &mut *self.kernel;
            let timed_out = self.stopped.is_none().then_some(deadline);
            let wake = [Some(disk_check), self.kill_at, self.nudge_at, timed_out, turn.due()];
            let wake = wake.into_iter().flatten().min().unwrap_or(deadline);
            tokio::select! {
                // In this order: what the kernel said goes before what lies in the pipes.
                biased;
                frame = kernel.control.next_frame() => {
                    let next = match frame? {
                        Some(frame) => self.handle(frame).await?,
                        None => Next::Died,
                    };
                    if !matches!(next, Next::Go) {
                        return Ok(next);
                    }
                }
                Some(stop) = self.stops.recv() => self.asked_to(stop),
                () = self.events.closed(), if !self.client_left => {
                    self.client_left = true;
                    self.stop(Stopped::Asked, false);
                }
                status = &mut kernel.exit, if !self.exit_known => {
                    self.exit_known = true;
                    self.status = status.ok();
                    if self.status.is_some() {
                        return self.rest_of_frames().await;
                    }
                }
                ready = kernel.stdout.readable(), if turn.watching() => turn.saw(ready),
                ready = kernel.stderr.readable(), if turn.watching() => turn.saw(ready),
                () = sleep_until(wake) => {}
            }
            // Not in branches of their own: a flood of frames would keep those from ever having their turn.
            if let Ok(stop) = self.stops.try_recv() {
                self.asked_to(stop);
            }
            if self.events.is_closed() && !self.client_left {
                self.client_left = true;
                self.stop(Stopped::Asked, false);
            }
            if wake <= Instant::now() {
                let now = Instant::now();
                if turn.due().is_some_and(|due| due <= now) {
                    let next = self.rest_of_frames_then_pipes(&mut turn).await?;
                    if !matches!(next, Next::Go) {
                        return Ok(next);
                    }
                }
                if self.kill_at.is_some_and(|at| at <= now) {
                    self.kill_at = None;
                    self.kill_kernel().await;
                }
                if self.nudge_at.is_some_and(|at| at <= now) {
                    self.nudge_at = Some(now + NUDGE_INTERVAL);
                    self.kernel.process.nudge();
                }
                if self.stopped.is_none() && deadline <= now && !around.is_paused() {
                    self.stop(Stopped::Timeout, false);
                }
                if disk_check <= now {
                    let started = Instant::now();
                    if self.stopped.is_none() && around.disk_is_over().await {
                        self.stop(Stopped::Disk, true);
                    }
                    // A large tree takes long to walk: look at it more rarely.
                    disk_check = Instant::now() + DISK_INTERVAL.max(started.elapsed() * 20);
                }
            }
            if self.meter.hopeless() && self.stopped.is_none() {
                self.stop(Stopped::Output, false);
            }
        }
    }

    /// Frames that were sent before the process ended; the last of them may even be "done".
    async fn rest_of_frames(&mut self) -> Result<Next> {
        // A process that it left behind may go on sending; what honest code sent last is within this.
        for _ in 0..LAST_FRAMES {
            let Some(frame) = self.kernel.control.frame_at_hand()? else { break };
            let next = self.handle(frame).await?;
            if !matches!(next, Next::Go) {
                return Ok(Next::Died);
            }
        }
        Ok(Next::Died)
    }

    /// Frames on the way were sent before what now lies in the pipes was written.
    async fn rest_of_frames_then_pipes(&mut self, turn: &mut PipeTurn) -> Result<Next> {
        for _ in 0..FRAMES_A_TURN {
            let Some(frame) = self.kernel.control.frame_at_hand()? else { break };
            let next = self.handle(frame).await?;
            if !matches!(next, Next::Go) {
                return Ok(next);
            }
        }
        let (out, err) = turn.take(&self.kernel.stdout, &self.kernel.stderr);
        self.text_out(&out).await;
        self.text_err(&err).await;
        Ok(Next::Go)
    }

    /// What is left in the pipes when the run is over.
    async fn last_output(&mut self) {
        let (out, err) = PipeTurn::default().take(&self.kernel.stdout, &self.kernel.stderr);
        self.text_out(&out).await;
        self.text_err(&err).await;
        let (out, err) = (self.stdout.finish(), self.stderr.finish());
        self.emit_text(out, |text| Event::Stdout { text }).await;
        self.emit_text(err, |text| Event::Stderr { text }).await;
    }

    async fn handle(&mut self, frame: FromKernel) -> Result<Next> {
        self.meter.count_event();
        match frame {
            FromKernel::Stdout(bytes) => self.text_out(&bytes).await,
            FromKernel::Stderr(bytes) => self.text_err(&bytes).await,
            FromKernel::Display(shown) => {
                if let Some(data) = self.meter.keep_bundle(shown.data, shown.left_out) {
                    self.emit(Event::Display { data }).await;
                }
            }
            FromKernel::Result { shown, execution_count } => {
                if let Some(data) = self.meter.keep_bundle(shown.data, shown.left_out) {
                    self.emit(Event::Result { data, execution_count }).await;
                }
            }
            FromKernel::Error(mut error) => {
                // What went wrong is told however much was printed before; how, only as far as there is room.
                error.name.truncate(error.name.floor_char_boundary(MAX_ERROR_NAME));
                error.value.truncate(error.value.floor_char_boundary(MAX_ERROR_VALUE));
                error.traceback = self.meter.keep_lines(error.traceback);
                // One error ends an honest run.
                if !std::mem::replace(&mut self.error_told, true) {
                    self.emit(Event::Error(error)).await;
                }
            }
            FromKernel::Done { execution_count, failed } => {
                return Ok(Next::Done { execution_count, failed });
            }
            FromKernel::Ready => {
                return Err(BackendError::Engine("a kernel said twice that it is ready".into()));
            }
        }
        Ok(Next::Go)
    }

    async fn text_out(&mut self, bytes: &[u8]) {
        let text = self.stdout.push(bytes);
        self.emit_text(text, |text| Event::Stdout { text }).await;
    }

    async fn text_err(&mut self, bytes: &[u8]) {
        let text = self.stderr.push(bytes);
        self.emit_text(text, |text| Event::Stderr { text }).await;
    }

    async fn emit_text(&mut self, text: String, event: impl FnOnce(String) -> Event) {
        let text = self.meter.keep_text(text);
        if !text.is_empty() {
            self.emit(event(text)).await;
        }
    }

    /// Waits for a slow reader, which in turn holds up the code, but not past the run's own time.
    async fn emit(&mut self, event: Event) {
        if self.client_left {
            return;
        }
        let patience = self.deadline + GRACE;
        if !matches!(timeout_at(patience, self.events.send(event)).await, Ok(Ok(()))) {
            self.client_left = true;
            self.stop(Stopped::Asked, false);
        }
    }

    fn asked_to(&mut self, stop: Stop) {
        match stop {
            Stop::Interrupt => self.stop(Stopped::Asked, false),
            Stop::Kill => self.stop(Stopped::Killed, true),
        }
    }

    /// Interrupts the first time, kills when asked to or when asked twice.
    fn stop(&mut self, why: Stopped, at_once: bool) {
        let again = self.stopped.is_some();
        self.stopped.get_or_insert(why);
        if at_once || again {
            self.kill_at = Some(Instant::now());
        } else {
            self.kernel.process.interrupt();
            self.kill_at = Some(Instant::now() + GRACE);
            self.nudge_at = Some(Instant::now() + NUDGE_INTERVAL);
        }
    }

    async fn kill_kernel(&mut self) {
        let process = self.kernel.process.clone();
        let _ = tokio::task::spawn_blocking(move || process.kill()).await;
    }

    fn ended_itself(&self, execution_count: u64, failed: bool) -> Finished {
        let (ending, text) = match self.stopped {
            Some(why) => self.words(why, true),
            None if failed => (Ending::Raised, "the code raised".to_owned()),
            None => (Ending::Ok, String::new()),
        };
        Finished { ending, text, execution_count, kernel_lost: false }
    }

    async fn died(&mut self, around: &impl Surroundings) -> Result<Finished> {
        // A process that closed its socket but lives on would hold the context for ever.
        if !self.exit_known {
            let news = tokio::time::timeout(Duration::from_millis(500), &mut self.kernel.exit).await;
            self.status = news.ok().and_then(std::result::Result::ok);
        }
        self.kill_kernel().await;
        let out_of_memory = around.killed_for_memory().await;
        let (ending, text) = match (self.stopped, self.status) {
            (Some(why), _) => self.words(why, false),
            (None, _) if out_of_memory => {
                let limit = human_bytes(self.limits.memory_bytes);
                let text = format!("the memory limit of {limit} was reached, and the interpreter was ended");
                (Ending::LimitHit { limit: LimitKind::Memory }, text)
            }
            (None, Some(status)) => how_it_died(status),
            (None, None) => (
                Ending::Signalled { signal: libc::SIGKILL },
                "the interpreter left its connection".to_owned(),
            ),
        };
        let text = format!("{text}; variables are gone, files are kept");
        Ok(Finished { ending, text, execution_count: 0, kernel_lost: true })
    }

    fn words(&self, why: Stopped, kept_state: bool) -> (Ending, String) {
        let how = if kept_state { "was interrupted" } else { "did not stop when interrupted and was ended" };
        match why {
            Stopped::Timeout => {
                let seconds = self.timeout.as_secs_f64();
                (Ending::TimedOut, format!("the time limit of {seconds} seconds was reached; the code {how}"))
            }
            Stopped::Asked => (Ending::Interrupted, format!("the code {how}")),
            Stopped::Killed => (Ending::Interrupted, "the code was ended on request".to_owned()),
            Stopped::Output => {
                let limit = human_bytes(self.meter.limit());
                let text =
                    format!("the code went on printing far past the output limit of {limit} and {how}");
                (Ending::LimitHit { limit: LimitKind::Output }, text)
            }
            Stopped::Disk => {
                let (bytes, entries) = (human_bytes(self.limits.disk_bytes), self.limits.disk_entries);
                let text = format!(
                    "the disk limit of {bytes} or {entries} files was passed, and the interpreter was ended; remove files before writing more"
                );
                (Ending::LimitHit { limit: LimitKind::Disk }, text)
            }
        }
    }
}

/// From the raw wait status.
fn how_it_died(status: i32) -> (Ending, String) {
    let signal = status & 0x7f;
    if signal == 0 {
        let code = (status >> 8) & 0xff;
        return (Ending::Exited { code }, format!("the code ended the interpreter with exit code {code}"));
    }
    let name = match signal {
        libc::SIGSEGV => "a segmentation fault",
        libc::SIGABRT => "an abort",
        libc::SIGBUS => "a bus error",
        libc::SIGFPE => "an arithmetic fault",
        libc::SIGILL => "an illegal instruction",
        libc::SIGSYS => "a forbidden system call",
        libc::SIGKILL => "SIGKILL",
        libc::SIGTERM => "SIGTERM",
        libc::SIGXFSZ => "a file larger than allowed",
        _ => "a signal",
    };
    (Ending::Signalled { signal }, format!("the interpreter died of {name} (signal {signal})"))
}
