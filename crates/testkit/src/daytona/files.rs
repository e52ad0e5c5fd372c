//! Files of a sandbox.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::sync::Arc;

use axum::Json;
use axum::extract::{Multipart, Path, State};
use axum::http::{StatusCode, Uri};
use serde_json::{Value, json};

use super::World;
use super::check::{Refused, query};

type Answer = Result<Json<Value>, Refused>;

/// As the host says it, with the path as the client wrote it.
fn told(error: &std::io::Error, path: &str) -> Refused {
    match error.kind() {
        ErrorKind::NotFound => Refused::missing(format!("file not found: {path}")),
        _ => Refused::no(format!("{path}: {error}")),
    }
}

pub(crate) async fn list(State(world): State<Arc<World>>, Path(id): Path<String>, uri: Uri) -> Answer {
    let path = &query(&uri, &["!path"])?["path"];
    let sandbox = world.started(&id)?;
    let mut all = Vec::new();
    for entry in fs::read_dir(sandbox.host_path(path)?).map_err(|error| told(&error, path))? {
        let entry = entry.map_err(|error| told(&error, path))?;
        let about = entry.metadata().map_err(|error| told(&error, path))?;
        all.push(shown(&entry.file_name().to_string_lossy(), &about));
    }
    Ok(Json(Value::Array(all)))
}

pub(crate) async fn info(State(world): State<Arc<World>>, Path(id): Path<String>, uri: Uri) -> Answer {
    let path = &query(&uri, &["!path"])?["path"];
    let host = world.started(&id)?.host_path(path)?;
    let about = fs::symlink_metadata(&host).map_err(|error| told(&error, path))?;
    let name = host.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    Ok(Json(shown(&name, &about)))
}

fn shown(name: &str, about: &fs::Metadata) -> Value {
    let kind = match about.file_type() {
        kind if kind.is_dir() => 'd',
        kind if kind.is_symlink() => 'L',
        _ => '-',
    };
    let modified = time::OffsetDateTime::from_unix_timestamp_nanos(
        i128::from(about.mtime()) * 1_000_000_000 + i128::from(about.mtime_nsec()),
    );
    let modified =
        modified.ok().and_then(|at| at.format(&time::format_description::well_known::Rfc3339).ok());
    json!({
        "name": name, "isDir": about.is_dir(), "size": about.len(),
        "modTime": "", "modifiedAt": modified, "mode": format!("{kind}rw-r--r--"),
        "permissions": format!("{:04o}", about.permissions().mode() & 0o7777), "owner": "daytona", "group": "daytona",
    })
}

pub(crate) async fn download(
    State(world): State<Arc<World>>,
    Path(id): Path<String>,
    uri: Uri,
) -> Result<Vec<u8>, Refused> {
    let path = &query(&uri, &["!path"])?["path"];
    let sandbox = world.started(&id)?;
    fs::read(sandbox.host_path(path)?).map_err(|error| told(&error, path))
}

/// Pairs of `files[N].path` and `files[N].file`.
pub(crate) async fn upload(
    State(world): State<Arc<World>>,
    Path(id): Path<String>,
    mut form: Multipart,
) -> Result<(), Refused> {
    let sandbox = world.started(&id)?;
    let bad = |message: &str| Refused::new(StatusCode::BAD_REQUEST, message);
    let mut number = 0;
    let mut path: Option<String> = None;
    while let Some(part) = form.next_field().await.map_err(|error| bad(&error.body_text()))? {
        let name = part.name().unwrap_or_default().to_owned();
        if name == format!("files[{number}].path") && path.is_none() {
            path = Some(part.text().await.map_err(|error| bad(&error.body_text()))?);
        } else if name == format!("files[{number}].file") {
            let to = path.take().ok_or_else(|| bad("a file without its path"))?;
            if part.file_name() != Some(to.as_str()) {
                return Err(bad("the file's name is not its path"));
            }
            let content = part.bytes().await.map_err(|error| Refused::no(error.body_text()))?;
            let host = sandbox.writable_path(&to)?;
            let above = host.parent().unwrap_or(&host);
            fs::create_dir_all(above)
                .and_then(|()| fs::write(&host, content))
                .map_err(|error| told(&error, &to))?;
            number += 1;
        } else {
            return Err(bad(&format!("a part '{name}'")));
        }
    }
    if number == 0 || path.is_some() { Err(bad("a file is missing")) } else { Ok(()) }
}

pub(crate) async fn make_folder(
    State(world): State<Arc<World>>,
    Path(id): Path<String>,
    uri: Uri,
) -> Result<StatusCode, Refused> {
    let query = query(&uri, &["!path", "!mode"])?;
    let (path, mode) = (&query["path"], &query["mode"]);
    let bits = u32::from_str_radix(mode, 8)
        .map_err(|_| Refused::new(StatusCode::BAD_REQUEST, "the mode is not octal"))?;
    let host = world.started(&id)?.writable_path(path)?;
    fs::create_dir_all(&host).map_err(|error| told(&error, path))?;
    fs::set_permissions(&host, fs::Permissions::from_mode(bits)).map_err(|error| told(&error, path))?;
    Ok(StatusCode::CREATED)
}

pub(crate) async fn rename(
    State(world): State<Arc<World>>,
    Path(id): Path<String>,
    uri: Uri,
) -> Result<(), Refused> {
    let query = query(&uri, &["!source", "!destination"])?;
    let sandbox = world.started(&id)?;
    let (from, to) = (sandbox.host_path(&query["source"])?, sandbox.writable_path(&query["destination"])?);
    fs::rename(from, to).map_err(|error| told(&error, &query["source"]))
}

pub(crate) async fn remove(
    State(world): State<Arc<World>>,
    Path(id): Path<String>,
    uri: Uri,
) -> Result<StatusCode, Refused> {
    let query = query(&uri, &["!path", "recursive"])?;
    let path = &query["path"];
    let host = world.started(&id)?.host_path(path)?;
    let about = fs::symlink_metadata(&host).map_err(|error| told(&error, path))?;
    let removed = match about.is_dir() {
        true if query.get("recursive").map(String::as_str) == Some("true") => fs::remove_dir_all(&host),
        true => return Err(Refused::no("it is a folder: say recursive")),
        false => fs::remove_file(&host),
    };
    removed.map_err(|error| told(&error, path))?;
    Ok(StatusCode::NO_CONTENT)
}
