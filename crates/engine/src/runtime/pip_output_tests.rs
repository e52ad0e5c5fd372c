//! pip's lines as pip 23 to 26 write them.

use super::*;

fn lines(text: &str) -> Vec<String> {
    text.lines().map(str::to_owned).collect()
}

#[test]
fn progress_lines_are_known() {
    assert_eq!(read("Collecting numpy==2.4.6 (from -r lock (line 4))"), Line::Collecting("numpy"));
    let fetched = "  Downloading numpy-2.4.6-cp311-cp311-manylinux_2_28_x86_64.whl (16.9 MB)";
    assert_eq!(read(fetched), Line::Fetching("numpy 2.4.6, 16.9 MB".to_owned()));
    let with_address = "  Downloading https://mirror/simple/six-1.0-py3-none-any.whl (11 kB)";
    assert_eq!(read(with_address), Line::Fetching("six 1.0, 11 kB".to_owned()));
    let ignored = "Ignoring colorama: markers 'sys_platform == \"win32\"' don't match your environment";
    assert_eq!(read(ignored), Line::Ignoring);
    assert_eq!(read("Installing collected packages: a, b"), Line::Installing);
    assert_eq!(read("Looking in indexes: https://mirror/simple"), Line::Other);
}

#[test]
fn a_lock_is_counted_by_its_pins() {
    let lock = "# numpy==1\nnumpy==2.4.6 \\\n    --hash=sha256:aa\n    # via pandas\nsix==1 ; python_version < '4'\n";
    assert_eq!(names_in(lock), ["numpy", "six"]);
}

#[test]
fn the_lines_that_matter_are_found() {
    let tail = lines(
        "WARNING: Retrying (Retry(total=0)) after connection broken by 'NewConnectionError()': /simple/numpy/\n\
         ERROR: Could not find a version that satisfies the requirement numpy==2.4.6 (from versions: none)\n\
         ERROR: No matching distribution found for numpy==2.4.6\n\n[notice] A new release of pip",
    );
    assert!(what_happened(&tail).ends_with("; No matching distribution found for numpy==2.4.6"));
    assert!(advice(&tail).starts_with("the package index could not be reached: check the network"));
}

#[test]
fn without_an_error_line_the_last_words_count() {
    assert_eq!(what_happened(&lines("a\nb\n\nc\nd\n")), "b; c; d");
    assert_eq!(what_happened(&[]), "it said nothing");
    assert!(advice(&[]).contains("PIP_INDEX_URL"));
}

#[test]
fn advice_follows_the_complaint() {
    assert!(advice(&lines("ERROR: [Errno 28] No space left on device")).starts_with("free space"));
    assert!(advice(&lines("ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM …")).contains("mirror"));
    assert!(advice(&lines("ERROR: No matching distribution found for x")).contains("no fitting file"));
}
