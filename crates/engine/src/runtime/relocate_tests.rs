//! No path of the host stays: scripts, links, configuration, the list of fonts.

use std::path::PathBuf;

use super::*;

fn venv() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().expect("tempdir");
    let venv = dir.path().join("venv");
    fs::create_dir_all(venv.join("bin")).expect("mkdir");
    (dir, venv)
}

fn candidate() -> Candidate {
    Candidate {
        interpreter: PathBuf::from("/usr/bin/python3.11"),
        version: "3.11.2".to_owned(),
        base_prefix: PathBuf::from("/usr"),
        optimised: true,
        why: String::new(),
    }
}

#[test]
fn scripts_start_the_python_of_the_inside() {
    let (_dir, venv) = venv();
    let host = venv.display();
    let cases = [
        ("pip", format!("#!{host}/bin/python3.11\nimport pip\n"), "#!/opt/venv/bin/python3\nimport pip\n"),
        (
            "long",
            format!("#!/bin/sh\n'''exec' \"{host}/bin/python3\" \"$0\" \"$@\"\n' '''\nimport x\n"),
            "#!/opt/venv/bin/python3\nimport x\n",
        ),
        ("activate", format!("VIRTUAL_ENV=\"{host}\"\n"), "VIRTUAL_ENV=\"/opt/venv\"\n"),
        ("foreign", "#!/bin/sh\necho\n".to_owned(), "#!/bin/sh\necho\n"),
    ];
    for (name, before, _) in &cases {
        fs::write(venv.join("bin").join(name), before).expect("write");
    }
    rewrite_scripts(&venv).expect("rewrite");
    for (name, _, after) in &cases {
        assert_eq!(&fs::read_to_string(venv.join("bin").join(name)).expect("read"), after, "{name}");
    }
}

#[test]
fn links_and_configuration_name_the_base() {
    let (_dir, venv) = venv();
    symlink("/srv/pyenv/shims/python3", venv.join("bin/python3")).expect("link");
    link_interpreter(&venv, &candidate()).expect("links");
    let target = |name: &str| fs::read_link(venv.join("bin").join(name)).expect("link");
    assert_eq!(target("python3"), Path::new("/usr/bin/python3.11"));
    assert_eq!(target("python"), Path::new("python3"));
    assert_eq!(target("python3.11"), Path::new("python3"));
    write_configuration(&venv, &candidate()).expect("write");
    let text = fs::read_to_string(venv.join("pyvenv.cfg")).expect("read");
    assert!(text.starts_with("home = /usr/bin\n") && text.contains("version = 3.11.2\n"), "{text}");
}

#[test]
fn the_list_of_fonts_names_what_is_shown() {
    let (dir, venv) = venv();
    let path = dir.path().join("fontlist.json");
    let own = venv.join("lib/font.ttf");
    let fonts: Vec<_> =
        [own.to_str().expect("utf-8"), "fonts/ttf/a.ttf", "/usr/share/fonts/b.ttf", "/root/c.ttf"]
            .into_iter()
            .map(|name| serde_json::json!({"fname": name, "name": "N"}))
            .collect();
    fs::write(&path, serde_json::json!({"_version": 1, "ttflist": fonts}).to_string()).expect("write");
    rewrite_font_list(&path, &venv).expect("rewrite");
    let list: serde_json::Value = serde_json::from_slice(&fs::read(&path).expect("read")).expect("json");
    let names: Vec<_> =
        list["ttflist"].as_array().expect("list").iter().map(|font| font["fname"].clone()).collect();
    assert_eq!(names, ["/opt/venv/lib/font.ttf", "fonts/ttf/a.ttf", "/usr/share/fonts/b.ttf"]);
    assert_eq!(list["_version"], 1);
}
