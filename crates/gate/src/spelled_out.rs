//! A request as the upstream can understand it without our store: for calls that only it can answer, such as how
//! many tokens a request has.

use sandgate_core::Owner;
use serde_json::{Map, Value, json};

use crate::error::Result;
use crate::gate::Gate;
use crate::history::History;
use crate::request::CreateRequest;
use crate::thoughts;
use crate::tool_choice::Form;
use crate::tools::{ToolRewrite, TurnTools};

impl Gate {
    /// With the conversation so far as its input and the code tool as the function that the model sees. Files that
    /// a container would hold are not named, as none is made for this.
    pub async fn spelled_out(&self, owner: &Owner, fields: Map<String, Value>) -> Result<Map<String, Value>> {
        let request = CreateRequest::parse(fields)?;
        let model = request.body.get("model").and_then(Value::as_str);
        let remembers = self.upstream.forwards_for("/v1/responses", model);
        let history = History::gather(&self.store, owner, &request, remembers).await?;
        let mut body = request.body;
        for ours in ["conversation", "previous_response_id"] {
            body.shift_remove(ours);
        }
        if let Some(previous) = history.upstream_previous {
            body.insert("previous_response_id".to_owned(), json!(previous));
        }
        body.insert("input".to_owned(), Value::Array(thoughts::readable(&history.model)));
        if let Some(tool) = &request.code_tool {
            let tools =
                ToolRewrite::new(Form::Flat, &body, tool, &[]).with_files_elsewhere(history.files_elsewhere);
            tools.apply(&mut body, TurnTools::First);
        }
        Ok(body)
    }
}
