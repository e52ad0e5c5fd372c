//! The model's calls for code: shown while they are written, run when the turn is over, and kept, so that
//! a client that sends the message back gives the model its own memory back.

use sandgate_store::ItemRecord;
use serde_json::{Value, json};

use super::run::ChatRun;
use super::shown::{ShownCall, about, about_call};
use crate::citations::cite;
use crate::code_reader::{CodeReader, whole_code};
use crate::error::Result;
use crate::execution::Came;
use crate::ids::fresh_id;
use crate::metrics::Place;
use crate::rounds::last_round_note;
use crate::upstream::GatheredCall;

/// More files than this are for the container's own list to show.
const MOST_FILES: usize = 100;

/// A call that is being written.
#[derive(Debug)]
pub(super) struct Writing {
    /// Its place among the calls that are shown.
    pub(super) index: usize,
    reader: CodeReader,
}

impl ChatRun {
    /// Announces a call.
    pub(super) async fn begin_code(&mut self) -> Result<Writing> {
        let (index, id) = (self.shown.calls.len(), fresh_id("ci"));
        self.answer.delta(about_call(index, json!({"id": id, "code": ""}))).await?;
        let call = ShownCall { id, code: String::new(), status: "incomplete", outputs: Vec::new() };
        self.shown.calls.push(call);
        Ok(Writing { index, reader: CodeReader::new() })
    }

    /// More of its arguments, or of its code where the call has no arguments.
    pub(super) async fn write_code(
        &mut self,
        writing: &mut Writing,
        piece: &str,
        is_custom: bool,
    ) -> Result<()> {
        let code = if is_custom { piece.to_owned() } else { writing.reader.read(piece) };
        self.show_code(writing.index, &code).await
    }

    async fn show_code(&mut self, index: usize, code: &str) -> Result<()> {
        if code.is_empty() {
            return Ok(());
        }
        self.shown.calls[index].code.push_str(code);
        if self.answer.is_streamed() {
            self.answer.delta(about_call(index, json!({"code": code}))).await?;
        }
        Ok(())
    }

    /// Runs a whole call and gives what the model is told.
    pub(super) async fn finish_code(
        &mut self,
        writing: &Writing,
        call: &GatheredCall,
        id: &str,
    ) -> Result<String> {
        let index = writing.index;
        let code =
            if call.is_custom { Ok(call.text.clone()) } else { whole_code(&call.text, &writing.reader) };
        let mut came = match code {
            Ok(code) => {
                let rest =
                    code.strip_prefix(self.shown.calls[index].code.as_str()).unwrap_or_default().to_owned();
                self.show_code(index, &rest).await?;
                let container = {
                    let _waits = self.asker.watch.outside(Place::Sandbox);
                    self.workplace.ready().await?
                };
                self.show_container(container.id().as_str()).await?;
                self.gate.run_code(&self.config, &self.asker, &container, &code).await?
            }
            Err(problem) => Came::not_run(&problem),
        };
        if let Some(note) = self.workplace.take_loss() {
            came.tell(note);
        }
        if let Some(note) = last_round_note(self.rounds, self.config.rounds) {
            came.tell(&note);
        }
        self.shown.written.extend(came.written);
        self.shown.written.extend(came.figures.into_iter().map(|file| file.path));
        self.end_call(index, came.status, came.outputs).await?;
        self.keep(index, call, id, &came.told).await?;
        Ok(came.told)
    }

    /// The turn ended in the middle of the call.
    pub(super) async fn leave_code(&mut self, writing: &Writing) -> Result<()> {
        self.end_call(writing.index, "incomplete", Vec::new()).await
    }

    async fn end_call(&mut self, index: usize, status: &'static str, outputs: Vec<Value>) -> Result<()> {
        if self.answer.is_streamed() {
            self.answer.delta(about_call(index, json!({"status": status, "outputs": outputs}))).await?;
        }
        let call = &mut self.shown.calls[index];
        (call.status, call.outputs) = (status, outputs);
        Ok(())
    }

    async fn show_container(&mut self, id: &str) -> Result<()> {
        if self.shown.container.is_none() {
            self.shown.container = Some(id.to_owned());
            self.answer.delta(about(json!({"container_id": id}))).await?;
        }
        Ok(())
    }

    /// Under the id that the client knows: what the model did and was told.
    async fn keep(&self, index: usize, call: &GatheredCall, id: &str, told: &str) -> Result<()> {
        let shown = &self.shown.calls[index];
        let body = json!({
            "id": shown.id, "type": "code_interpreter_call", "status": shown.status, "code": shown.code,
            "container_id": self.shown.container, "outputs": [],
        });
        let model = vec![
            json!({"type": "function_call", "call_id": id, "name": call.name, "arguments": call.text}),
            json!({"type": "function_call_output", "call_id": id, "output": told}),
        ];
        let record = ItemRecord { id: shown.id.clone(), body, model: Some(model) };
        Ok(self.gate.store.keep_items(&self.asker.owner, &[record]).await?)
    }

    /// At the end: files that code wrote and that are still there, and those that the text links to.
    pub(super) async fn show_files(&mut self) -> Result<()> {
        let Some(container) = self.workplace.known() else { return Ok(()) };
        let links = cite(self.answer.text(), container, &self.gate.files).await?;
        if links.is_empty() && self.shown.written.is_empty() {
            return Ok(());
        }
        let is_linked = |id: &str| links.iter().any(|link| link["file_id"] == id);
        let files = self.gate.files.list(container).await?.into_iter();
        let files = files.filter(|file| self.shown.written.contains(&file.path) || is_linked(&file.id));
        let shown = files.take(MOST_FILES).map(|file| {
            let name = file.path.rsplit('/').next().unwrap_or_default();
            let container = file.container.as_str();
            json!({"file_id": file.id, "container_id": container, "filename": name, "path": file.path})
        });
        let shown: Vec<Value> = shown.collect();
        let id = container.id().as_str().to_owned();
        self.show_container(&id).await?;
        if self.answer.is_streamed() && !shown.is_empty() {
            let mut numbered = shown.clone();
            numbered.iter_mut().enumerate().for_each(|(index, file)| file["index"] = json!(index));
            self.answer.delta(about(json!({"files": numbered}))).await?;
        }
        self.shown.files = shown;
        Ok(())
    }
}
