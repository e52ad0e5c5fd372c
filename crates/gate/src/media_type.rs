//! The media type of a file by its name: what a file is put into a message under has to say what it is,
//! or the upstream refuses it.

/// Those that models read, by the end of the name.
const KNOWN: [(&str, &str); 37] = [
    ("bash", "text/x-sh"),
    ("c", "text/x-c"),
    ("cpp", "text/x-c++"),
    ("cs", "text/x-csharp"),
    ("css", "text/css"),
    ("csv", "text/csv"),
    ("doc", "application/msword"),
    ("docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    ("gif", "image/gif"),
    ("go", "text/x-golang"),
    ("htm", "text/html"),
    ("html", "text/html"),
    ("java", "text/x-java"),
    ("jpeg", "image/jpeg"),
    ("jpg", "image/jpeg"),
    ("js", "text/javascript"),
    ("json", "application/json"),
    ("md", "text/markdown"),
    ("odt", "application/vnd.oasis.opendocument.text"),
    ("pdf", "application/pdf"),
    ("php", "text/x-php"),
    ("png", "image/png"),
    ("ppt", "application/vnd.ms-powerpoint"),
    ("pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation"),
    ("py", "text/x-python"),
    ("rb", "text/x-ruby"),
    ("rtf", "application/rtf"),
    ("sh", "text/x-sh"),
    ("tex", "text/x-tex"),
    ("ts", "text/x-typescript"),
    ("tsv", "text/tab-separated-values"),
    ("webp", "image/webp"),
    ("xls", "application/vnd.ms-excel"),
    ("xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    ("xml", "text/xml"),
    ("yaml", "text/x-yaml"),
    ("yml", "text/x-yaml"),
];

/// A name that says nothing is judged by its content.
pub(crate) fn media_type(filename: &str, content: &[u8]) -> &'static str {
    let end = filename.rsplit_once('.').map(|(_, end)| end.to_ascii_lowercase()).unwrap_or_default();
    match KNOWN.iter().find(|(known, _)| *known == end) {
        Some((_, kind)) => kind,
        None if content.starts_with(b"%PDF") => "application/pdf",
        None if !content.contains(&0) && std::str::from_utf8(content).is_ok() => "text/plain",
        None => "application/octet-stream",
    }
}

#[cfg(test)]
#[path = "media_type_tests.rs"]
mod tests;
