//! The folder that code works in: made where a template does not have it.

use sandgate_core::FileKind;

use super::super::place::E2bPlace;
use super::messages::{OneEntry, Path};
use crate::{Furnished, ProviderError, ProviderResult};

/// Who code runs as, and who may make folders at the root.
const USER: &str = "user";
const ROOT: &str = "root";
/// Everybody in the sandbox is the same one's code.
const MAKE: &str = r#"mkdir -p -- "$0" && chmod 0777 -- "$0""#;

impl E2bPlace {
    pub(in crate::e2b) async fn make_folder(&self, path: &str) -> ProviderResult<Furnished> {
        match self.rpc::<OneEntry>("filesystem.Filesystem/Stat", &Path { path }, path).await {
            Ok(OneEntry { entry: Some(entry) }) if entry.kind() == FileKind::Directory => {
                let by_all = entry.mode & 0o002 != 0;
                let by_user = entry.owner == USER && entry.mode & 0o200 != 0;
                if by_all || by_user {
                    return Ok(Furnished::AtOnce);
                }
            }
            Ok(_) | Err(ProviderError::NoSuchFile(_)) => {}
            Err(error) => return Err(error),
        }
        let args = ["-c", MAKE, path].map(ToOwned::to_owned).to_vec();
        let code = self.run_as(ROOT, "/bin/sh", args).await?;
        if code != 0 {
            let reason = format!("the folder cannot be made (exit code {code})");
            return Err(ProviderError::File { path: path.to_owned(), reason });
        }
        Ok(Furnished::Later)
    }
}
