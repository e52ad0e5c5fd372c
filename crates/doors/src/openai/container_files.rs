//! `/v1/containers/{id}/files`: put into a container, listed, read and removed.

use std::sync::Arc;

use axum::extract::{FromRequest, Request, State};
use axum::http::HeaderMap;
use axum::response::{Json, Response};
use sandgate_core::{Container, Owner, human_bytes};
use sandgate_gate::{ContainerFilesError, GateError, only_known};
use sandgate_store::ContainerFileRecord;
use serde_json::{Map, Value, json};

use super::body::{JsonBody, is_kind};
use super::download::{self, Wanted};
use super::error::{ApiError, ApiResult};
use super::pages::{self, Query};
use super::path::InPath;
use super::uploads::{FORM, Form};
use super::{Door, OpenAiDoor};
use crate::owner::Caller;

pub(super) async fn create(
    State(door): State<Door>,
    Caller(owner): Caller,
    InPath(container): InPath<String>,
    request: Request,
) -> ApiResult<Json<Value>> {
    let container = door.container(&owner, &container)?;
    let made = if is_kind(request.headers(), FORM) {
        from_form(&door, &owner, &container, Form::read(request).await?).await?
    } else {
        let JsonBody(fields) = JsonBody::from_request(request, &()).await?;
        let id = file_id(&fields)?;
        copy(&door, &owner, &container, &id).await?
    };
    container.keep_alive();
    Ok(Json(object(&made)))
}

/// A form with a file, or with the id of one.
async fn from_form(
    door: &OpenAiDoor,
    owner: &Owner,
    container: &Arc<Container>,
    mut form: Form,
) -> ApiResult<ContainerFileRecord> {
    let mut made: Option<ContainerFileRecord> = None;
    let refused = loop {
        let part = match form.next().await {
            Ok(Some(part)) => part,
            Ok(None) => break None,
            Err(error) => break Some(error),
        };
        let outcome = match part.name.as_str() {
            _ if made.is_some() => Err(ApiError::bad_request("Give one file, by 'file' or by 'file_id'.")),
            "file" => {
                let filename = part.filename.clone();
                let limit = door.limits.max_upload;
                upload(door, container, &filename, part.content(limit), limit).await
            }
            "file_id" => match part.text().await {
                Ok(id) => copy(door, owner, container, &id).await,
                Err(error) => Err(error),
            },
            other => Err(GateError::unknown_parameter(other).into()),
        };
        match outcome {
            Ok(record) => made = Some(record),
            Err(error) => break Some(error),
        }
    };
    match (refused, made) {
        (None, Some(made)) => Ok(made),
        (None, None) => Err(GateError::missing("file").into()),
        (Some(error), made) => {
            if let Some(made) = made {
                door.files.remove(container, &made.id).await?;
            }
            Err(error)
        }
    }
}

async fn upload(
    door: &OpenAiDoor,
    container: &Container,
    filename: &str,
    mut content: impl tokio::io::AsyncRead + Send + Unpin,
    limit: u64,
) -> ApiResult<ContainerFileRecord> {
    let made = door.files.upload(container, filename, &mut content).await?;
    if made.bytes > limit {
        door.files.remove(container, &made.id).await?;
        let limit = human_bytes(limit);
        let message = format!("The file is larger than this server takes, which is {limit}.");
        return Err(ApiError::too_large(message).about("file"));
    }
    Ok(made)
}

fn file_id(fields: &Map<String, Value>) -> ApiResult<String> {
    only_known(fields, "", &["file_id"])?;
    match fields.get("file_id") {
        Some(Value::String(id)) => Ok(id.clone()),
        None | Some(Value::Null) => Err(GateError::missing("file_id").into()),
        Some(other) => Err(GateError::wrong_type("file_id", "a string", other).into()),
    }
}

async fn copy(
    door: &OpenAiDoor,
    owner: &Owner,
    container: &Container,
    id: &str,
) -> ApiResult<ContainerFileRecord> {
    door.files.place(container, owner, id).await.map_err(|error| match error {
        ContainerFilesError::NoSuchFile(id) => ApiError::no_such_file(&id).about("file_id"),
        other => other.into(),
    })
}

pub(super) async fn list(
    State(door): State<Door>,
    Caller(owner): Caller,
    InPath(container): InPath<String>,
    query: Query,
) -> ApiResult<Json<Value>> {
    let page = query.page(20, 100)?;
    let container = door.container(&owner, &container)?;
    let all = door.files.list(&container).await?;
    let listed = pages::cut(all, &page, |file| &file.id)?;
    Ok(Json(pages::list(pages::mapped(listed, |file| object(&file)))))
}

pub(super) async fn retrieve(
    State(door): State<Door>,
    Caller(owner): Caller,
    InPath((container, file)): InPath<(String, String)>,
) -> ApiResult<Json<Value>> {
    let container = door.container(&owner, &container)?;
    Ok(Json(object(&door.files.get(&container, &file).await?)))
}

pub(super) async fn content(
    State(door): State<Door>,
    Caller(owner): Caller,
    InPath((container, file)): InPath<(String, String)>,
    headers: HeaderMap,
) -> ApiResult<Response> {
    let container = door.container(&owner, &container)?;
    let size = door.files.get(&container, &file).await?.bytes;
    let wanted = Wanted::read(&headers, size);
    let (record, content) = door.files.open(&container, &file, wanted.range()).await?;
    // As the file was when it was opened: code may have changed it since it was looked at.
    let size = content.stat.size;
    let name = record.path.rsplit('/').next().unwrap_or_default();
    Ok(download::answer(content.reader, name, size, wanted.within(size)))
}

pub(super) async fn delete(
    State(door): State<Door>,
    Caller(owner): Caller,
    InPath((container, file)): InPath<(String, String)>,
) -> ApiResult<Json<Value>> {
    let container = door.container(&owner, &container)?;
    door.files.remove(&container, &file).await?;
    Ok(Json(json!({"id": file, "object": "container.file.deleted", "deleted": true})))
}

fn object(file: &ContainerFileRecord) -> Value {
    json!({
        "id": file.id,
        "object": "container.file",
        "created_at": file.created_at,
        "bytes": file.bytes,
        "container_id": file.container,
        "path": file.path,
        "source": file.source,
    })
}

#[cfg(test)]
#[path = "container_files_tests.rs"]
mod tests;
