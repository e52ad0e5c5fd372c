//! Files and images in the client's messages and in what its tools gave: they go into the container, and
//! those that only our own files API knows are put into the message itself, because the upstream has never
//! heard of them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sandgate_core::{Container, Owner, SandboxPath, human_bytes};
use sandgate_store::{FileRecord, Store, StoreError, if_there};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tokio::fs::File;
use tokio::io::AsyncReadExt;

use crate::container_files::ContainerFiles;
use crate::error::{GateError, Result};
use crate::file_name::clean_file_name;
use crate::history::check_weight;
use crate::media_type::media_type;

/// A file that code should find in its container.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum InputFile {
    /// Of the files API.
    Stored { id: String, filename: String },
    /// It came in the message. Its path is made from its content, so that a message that is sent again
    /// finds it in its place.
    Inline { filename: String, content: Vec<u8> },
}

impl InputFile {
    pub(crate) fn path(&self) -> String {
        match self {
            Self::Stored { id, filename } => {
                format!("{}/{id}-{}", SandboxPath::WORKING_DIR, clean_file_name(filename))
            }
            Self::Inline { filename, content } => {
                let digest = Sha256::digest(content);
                let hex: String = digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
                format!("{}/{hex}-{}", SandboxPath::WORKING_DIR, clean_file_name(filename))
            }
        }
    }

    pub(crate) async fn place(
        &self,
        container: &Container,
        owner: &Owner,
        files: &ContainerFiles,
    ) -> Result<()> {
        match self {
            Self::Stored { id, .. } => {
                files.place(container, owner, id).await?;
            }
            Self::Inline { content, .. } => {
                let path = SandboxPath::parse(&self.path())?;
                let there = container.files().await?;
                if !there.stat(&path).await.is_ok_and(|stat| stat.size == content.len() as u64) {
                    there.write(&path, &mut content.as_slice()).await?;
                }
            }
        }
        Ok(())
    }
}

/// What was taken out of messages so far, and how much is in front of the model with it.
#[derive(Debug, Default)]
pub(crate) struct TakenFiles {
    pub(crate) found: Vec<InputFile>,
    /// Some were given by an address, which only the upstream follows: code will not find those.
    pub(crate) is_elsewhere: bool,
    /// Code can open them. Otherwise only what is in the message itself reaches the model.
    has_code: bool,
    weight: usize,
}

/// Of one file put into a message; what the upstreams of this world take, about.
const MOST_OF_ONE: u64 = 50 << 20;

impl TakenFiles {
    /// `weight`: what is in front of the model without them.
    pub(crate) fn new(has_code: bool, weight: usize) -> Self {
        Self { has_code, weight, ..Self::default() }
    }

    fn add(&mut self, file: InputFile) {
        if !self.found.contains(&file) {
            self.found.push(file);
        }
    }

    /// Makes room for a file's content in a message, where it takes a third more.
    fn make_room(&mut self, file: &FileRecord) -> Result<()> {
        if file.bytes > MOST_OF_ONE {
            return Err(too_large(file));
        }
        self.weight = self.weight.saturating_add(usize::try_from(file.bytes / 3 * 4).unwrap_or(usize::MAX));
        check_weight(self.weight)
    }
}

fn too_large(file: &FileRecord) -> GateError {
    let (size, most) = (human_bytes(file.bytes), human_bytes(MOST_OF_ONE));
    GateError::Invalid {
        message: format!(
            "The file '{}' has {size}, and a file that is put into a message may have {most}. Larger ones can be \
             given to code, by 'file_ids' of a 'code_interpreter' tool.",
            file.id
        ),
        param: Some("file_id".to_owned()),
        code: Some("file_too_large"),
    }
}

/// The parts of an item that can be files: of a message, or of what a tool of the client's gave.
pub(crate) fn parts_of(item: &Value) -> impl Iterator<Item = &Value> {
    PLACES.into_iter().filter_map(|place| item.get(place)).flat_map(|parts| match parts {
        Value::Array(parts) => parts.as_slice(),
        // A screenshot stands alone.
        Value::Object(_) => std::slice::from_ref(parts),
        _ => &[],
    })
}

const PLACES: [&str; 2] = ["content", "output"];

/// Rewrites the parts of an item for the upstream and collects what belongs into the container.
pub(crate) async fn take_files(
    item: &mut Value,
    owner: &Owner,
    store: &Store,
    found: &mut TakenFiles,
) -> Result<()> {
    for place in PLACES {
        let parts = match item.get_mut(place) {
            Some(Value::Array(parts)) => parts.as_mut_slice(),
            Some(part @ Value::Object(_)) => std::slice::from_mut(part),
            _ => continue,
        };
        for part in parts {
            let replaced = match part.get("type").and_then(Value::as_str) {
                Some("input_file") => take_file(part, owner, store, found).await?,
                Some("input_image" | "computer_screenshot") => take_image(part, owner, store, found).await?,
                _ => None,
            };
            if let Some(replaced) = replaced {
                *part = replaced;
            }
        }
    }
    Ok(())
}

async fn take_file(
    part: &Value,
    owner: &Owner,
    store: &Store,
    found: &mut TakenFiles,
) -> Result<Option<Value>> {
    if let Some((file, open)) = stored(part, owner, store).await? {
        let input = InputFile::Stored { id: file.id.clone(), filename: file.filename.clone() };
        // Code reads a table better than a model does; of a paper the model sees the pages.
        let replaced = if found.has_code && !is_pdf(&file.filename) {
            json!({"type": "input_text", "text": format!("[The user gave a file: {}]", input.path())})
        } else {
            let content = content_of(&file, open, found).await?;
            let kind = media_type(&file.filename, &content);
            let data = format!("data:{kind};base64,{}", STANDARD.encode(&content));
            json!({"type": "input_file", "filename": file.filename, "file_data": data})
        };
        found.add(input);
        return Ok(Some(replaced));
    }
    if let Some(content) = part.get("file_data").and_then(Value::as_str).and_then(decoded) {
        let filename = part.get("filename").and_then(Value::as_str).unwrap_or("file").to_owned();
        found.add(InputFile::Inline { filename, content });
    }
    found.is_elsewhere |= part.get("file_url").is_some_and(Value::is_string);
    Ok(None)
}

async fn take_image(
    part: &Value,
    owner: &Owner,
    store: &Store,
    found: &mut TakenFiles,
) -> Result<Option<Value>> {
    if let Some((file, open)) = stored(part, owner, store).await? {
        let content = content_of(&file, open, found).await?;
        let kind = image_kind(&content);
        let mut replaced = part.clone();
        if let Value::Object(fields) = &mut replaced {
            fields.shift_remove("file_id");
            let url = format!("data:image/{kind};base64,{}", STANDARD.encode(&content));
            fields.insert("image_url".to_owned(), json!(url));
        }
        found.add(InputFile::Stored { id: file.id, filename: file.filename });
        return Ok(Some(replaced));
    }
    let (data, elsewhere): (Vec<&str>, Vec<&str>) =
        part.get("image_url").and_then(Value::as_str).into_iter().partition(|url| url.starts_with("data:"));
    found.is_elsewhere |= !elsewhere.is_empty();
    if let Some(content) = data.first().copied().and_then(decoded) {
        let filename = format!("image.{}", image_kind(&content));
        found.add(InputFile::Inline { filename, content });
    }
    Ok(None)
}

/// The file behind `file_id`, if it is one of ours; another is the upstream's to know.
async fn stored(part: &Value, owner: &Owner, store: &Store) -> Result<Option<(FileRecord, File)>> {
    let Some(id) = part.get("file_id").and_then(Value::as_str) else { return Ok(None) };
    Ok(if_there(store.open_file(owner, id).await)?)
}

async fn content_of(file: &FileRecord, mut open: File, found: &mut TakenFiles) -> Result<Vec<u8>> {
    found.make_room(file)?;
    let mut content = Vec::new();
    open.read_to_end(&mut content).await.map_err(StoreError::Io)?;
    Ok(content)
}

fn is_pdf(filename: &str) -> bool {
    filename.to_ascii_lowercase().ends_with(".pdf")
}

/// A `data:` URL, or plain base64.
fn decoded(text: &str) -> Option<Vec<u8>> {
    let encoded = match text.strip_prefix("data:") {
        Some(rest) => rest.split_once(";base64,")?.1,
        None => text,
    };
    STANDARD.decode(encoded.trim()).ok()
}

fn image_kind(content: &[u8]) -> &'static str {
    match content {
        [0x89, b'P', b'N', b'G', ..] => "png",
        [0xff, 0xd8, ..] => "jpeg",
        [b'G', b'I', b'F', ..] => "gif",
        [b'R', b'I', b'F', b'F', ..] => "webp",
        _ => "png",
    }
}

#[cfg(test)]
#[path = "input_files_tests.rs"]
mod tests;
