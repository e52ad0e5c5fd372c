//! What the files API does, and that no link or name leads it out of the volume.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use proptest::prelude::*;
use sandgate_core::{BackendError, ByteRange, FileKind, Files, SandboxPath};
use tokio::io::AsyncReadExt;

use super::VolumeFiles;

struct Volume {
    _folder: tempfile::TempDir,
    outside: PathBuf,
    data: PathBuf,
    files: VolumeFiles,
}

fn volume() -> Volume {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("root");
    let data = root.join("mnt/data");
    fs::create_dir_all(&data).unwrap();
    fs::create_dir_all(root.join("home/user")).unwrap();
    let outside = folder.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("secret"), "secret").unwrap();
    let files = VolumeFiles::open(&root, None, 1000 * 1024, 100).unwrap();
    Volume { _folder: folder, outside, data, files }
}

fn path(text: &str) -> SandboxPath {
    SandboxPath::parse(text).unwrap()
}

async fn write(
    files: &VolumeFiles,
    at: &str,
    content: &str,
) -> sandgate_core::Result<sandgate_core::FileStat> {
    files.write(&path(at), &mut content.as_bytes()).await
}

async fn read(files: &VolumeFiles, at: &str) -> sandgate_core::Result<String> {
    let bytes = (files as &dyn Files).read(&path(at), 10_000).await?;
    Ok(String::from_utf8(bytes.to_vec()).unwrap())
}

#[tokio::test]
async fn a_file_goes_in_and_comes_out_whole_and_in_part() {
    let volume = volume();
    let Volume { files, .. } = &volume;
    let stat = write(files, "deep/er/a.txt", "0123456789").await.unwrap();
    assert_eq!((stat.path.as_str(), stat.size, stat.kind), ("/mnt/data/deep/er/a.txt", 10, FileKind::File));
    assert_eq!(read(files, "deep/er/a.txt").await.unwrap(), "0123456789");
    let range = ByteRange { start: 3, length: Some(4) };
    let mut part = files.open(&path("deep/er/a.txt"), Some(range)).await.unwrap();
    let mut text = String::new();
    part.reader.read_to_string(&mut text).await.unwrap();
    assert_eq!(text, "3456");
    let after_the_end = ByteRange { start: 11, length: None };
    assert!(files.open(&path("deep/er/a.txt"), Some(after_the_end)).await.is_err());
}

#[tokio::test]
async fn listing_moving_and_removing() {
    let volume = volume();
    let Volume { files, data, .. } = &volume;
    write(files, "a/one", "1").await.unwrap();
    write(files, "a/b/two", "22").await.unwrap();
    let names = |depth| async move {
        let listed = files.list(&path("/mnt/data"), depth).await.unwrap();
        listed.into_iter().map(|stat| stat.path).collect::<Vec<_>>()
    };
    assert_eq!(names(1).await, ["/mnt/data/a"]);
    assert_eq!(names(9).await, ["/mnt/data/a", "/mnt/data/a/b", "/mnt/data/a/b/two", "/mnt/data/a/one"]);
    files.rename(&path("a/b"), &path("/home/user/new/place")).await.unwrap();
    assert_eq!(read(files, "/home/user/new/place/two").await.unwrap(), "22");
    files.remove(&path("a")).await.unwrap();
    assert!(!data.join("a").exists());
    assert!(matches!(files.stat(&path("a")).await, Err(BackendError::NoSuchFile(_))));
}

#[tokio::test]
async fn links_out_of_the_volume_lead_nowhere() {
    let volume = volume();
    let Volume { files, data, outside, .. } = &volume;
    symlink(outside, data.join("absolute")).unwrap();
    symlink("../../../outside", data.join("relative")).unwrap();
    symlink("/proc/self/root", data.join("magic")).unwrap();
    for way in
        ["absolute/secret", "relative/secret", "magic/etc/passwd", "../../outside/secret", "/outside/secret"]
    {
        assert!(read(files, way).await.is_err(), "{way}");
        let _ = write(files, way, "overwritten").await;
        let _ = files.remove(&path(way)).await;
        let _ = files.rename(&path(way), &path("stolen")).await;
    }
    assert_eq!(fs::read_to_string(outside.join("secret")).unwrap(), "secret");
    assert_eq!(fs::read_dir(outside).unwrap().count(), 1);
    assert!(!data.join("stolen").exists());
}

#[tokio::test]
async fn writing_over_a_link_replaces_the_link() {
    let volume = volume();
    let Volume { files, data, outside, .. } = &volume;
    symlink(outside.join("secret"), data.join("link")).unwrap();
    write(files, "link", "mine").await.unwrap();
    assert_eq!(fs::read_to_string(outside.join("secret")).unwrap(), "secret");
    assert_eq!(fs::read_to_string(data.join("link")).unwrap(), "mine");
}

#[tokio::test]
async fn removing_a_folder_of_links_spares_what_they_point_to() {
    let volume = volume();
    let Volume { files, data, outside, .. } = &volume;
    fs::create_dir_all(data.join("d/e")).unwrap();
    symlink(outside, data.join("d/out")).unwrap();
    symlink(outside.join("secret"), data.join("d/e/file")).unwrap();
    files.remove(&path("d")).await.unwrap();
    assert!(outside.join("secret").exists() && !data.join("d").exists());
}

#[tokio::test]
async fn links_above_the_containers_folders_lead_to_no_change() {
    let volume = volume();
    let Volume { files, data, .. } = &volume;
    write(files, "kept", "x").await.unwrap();
    for (name, target) in [("top", "/"), ("above", ".."), ("mnt", "/mnt"), ("fine", "/home/user")] {
        symlink(target, data.join(name)).unwrap();
    }
    for folder in ["top", "above", "mnt", "top/home"] {
        assert!(write(files, &format!("{folder}/x"), "x").await.is_err(), "{folder}");
        assert!(write(files, &format!("{folder}/new/x"), "x").await.is_err(), "{folder}");
        assert!(files.make_dir(&path(&format!("{folder}/x"))).await.is_err(), "{folder}");
        assert!(files.rename(&path("kept"), &path(&format!("{folder}/x"))).await.is_err(), "{folder}");
    }
    for victim in ["top/mnt", "mnt/data", "above/data", "top/home/user"] {
        assert!(files.remove(&path(victim)).await.is_err(), "{victim}");
        assert!(files.rename(&path(victim), &path("taken")).await.is_err(), "{victim}");
    }
    assert_eq!(read(files, "kept").await.unwrap(), "x");
    write(files, "fine/x", "y").await.unwrap();
    assert_eq!(read(files, "/home/user/x").await.unwrap(), "y");
    let mut above: Vec<_> =
        fs::read_dir(data.join("../..")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    above.sort();
    assert_eq!(above, ["home", "mnt"]);
}

#[tokio::test]
async fn pipes_and_folders_are_refused_without_waiting() {
    let volume = volume();
    let Volume { files, data, .. } = &volume;
    rustix::fs::mknodat(rustix::fs::CWD, data.join("pipe"), rustix::fs::FileType::Fifo, 0o666.into(), 0)
        .unwrap();
    for name in ["pipe", "/mnt/data"] {
        assert!(matches!(read(files, name).await, Err(BackendError::File { .. })), "{name}");
    }
}

#[tokio::test]
async fn a_file_that_somebody_holds_by_a_lease_is_refused_without_waiting() {
    use std::io::{BufRead, BufReader};
    use std::process::{Command, Stdio};
    let volume = volume();
    let Volume { files, data, .. } = &volume;
    fs::write(data.join("held"), "x").unwrap();
    let code = "
import fcntl, os, signal, sys
signal.signal(signal.SIGIO, signal.SIG_IGN)
fd = os.open(sys.argv[1], os.O_RDWR)
fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_WRLCK)
print('held', flush=True)
sys.stdin.read()";
    let mut holder = Command::new("python3");
    holder.args(["-c", code]).arg(data.join("held")).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut holder = holder.spawn().unwrap();
    let mut said = String::new();
    BufReader::new(holder.stdout.take().unwrap()).read_line(&mut said).unwrap();
    assert_eq!(said, "held\n");
    // The kernel would otherwise wait for 45 seconds, and then take the lease away.
    let error = read(files, "held").await.unwrap_err();
    assert!(error.to_string().contains("held by code inside"), "{error}");
    assert_eq!(files.stat(&path("held")).await.unwrap().size, 1);
    holder.kill().unwrap();
    holder.wait().unwrap();
}

#[tokio::test]
async fn nothing_is_written_while_only_the_reserve_of_the_disk_is_left() {
    let mut volume = volume();
    write(&volume.files, "before", "x").await.unwrap();
    volume.files.pretend_short();
    let Volume { files, data, .. } = &volume;
    for name in ["after", "new/after"] {
        let error = write(files, name, "x").await.unwrap_err();
        assert!(error.to_string().contains("nearly full"), "{error}");
    }
    assert!(files.make_dir(&path("folder")).await.is_err());
    assert_eq!(fs::read_dir(data).unwrap().count(), 1);
    // Reading and making room go on.
    assert_eq!(read(files, "before").await.unwrap(), "x");
    files.remove(&path("before")).await.unwrap();
}

#[tokio::test]
async fn too_large_a_file_leaves_nothing_behind() {
    let volume = volume();
    let Volume { files, data, .. } = &volume;
    let error = write(files, "big", &"x".repeat(1_100_000)).await.unwrap_err();
    assert!(matches!(error, BackendError::FileTooLarge { .. }));
    assert_eq!(fs::read_dir(data).unwrap().count(), 0);
}

#[tokio::test]
async fn the_containers_own_folders_stay() {
    let volume = volume();
    let Volume { files, .. } = &volume;
    for way in ["/mnt/data", "/home/user", "/", "/etc", "/mnt/database"] {
        assert!(files.remove(&path(way)).await.is_err(), "{way}");
        assert!(files.rename(&path(way), &path("x")).await.is_err(), "{way}");
        assert!(write(files, way, "x").await.is_err(), "{way}");
    }
}

proptest! {
    #[test]
    fn no_path_whatever_touches_the_outside(text in "[a./\\\\~ ä]{1,40}") {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let volume = volume();
            let Volume { files, data, outside, .. } = &volume;
            symlink("..", data.join("a")).unwrap();
            if let Ok(at) = SandboxPath::parse(&text) {
                let _ = files.write(&at, &mut "x".as_bytes()).await;
                let _ = files.remove(&at).await;
            }
            assert_eq!(fs::read_to_string(outside.join("secret")).unwrap(), "secret");
            assert_eq!(fs::read_dir(outside).unwrap().count(), 1);
        });
    }
}
