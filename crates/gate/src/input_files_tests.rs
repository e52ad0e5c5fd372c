//! Files of messages, for the upstream and for the container.

use sandgate_core::Owner;
use sandgate_store::{FileRecord, Store};
use serde_json::json;

use super::{InputFile, TakenFiles, parts_of, take_files};

#[tokio::test]
async fn our_files_are_put_into_the_message_and_others_left_alone() {
    let home = tempfile::tempdir().unwrap();
    let store = Store::open(home.path()).await.unwrap();
    let owner = Owner::anonymous();
    let add = async |name: &str, content: &[u8]| {
        let mut content = content;
        store.add_file(&owner, name, "assistants", None, &mut content, 100).await.unwrap().id
    };
    let (table, paper, png) =
        (add("a.csv", b"1,2").await, add("p.pdf", b"%PDF").await, add("i", b"\x89PNG").await);
    let mut item = json!({"role": "user", "content": [
        {"type": "input_text", "text": "hi"},
        {"type": "input_file", "file_id": table},
        {"type": "input_file", "file_id": paper},
        {"type": "input_image", "file_id": png, "detail": "low"},
        {"type": "input_file", "file_id": "file-of-the-upstream"},
        {"type": "input_file", "filename": "b.txt", "file_data": "data:text/plain;base64,aGk="},
    ]});
    let mut taken = TakenFiles::new(true, 0);
    take_files(&mut item, &owner, &store, &mut taken).await.unwrap();
    let found = taken.found;
    let parts = item["content"].as_array().unwrap();
    assert!(parts[1]["text"].as_str().unwrap().contains(&format!("/mnt/data/{table}-a.csv")));
    assert_eq!(parts[2]["file_data"], "data:application/pdf;base64,JVBERg==");
    assert_eq!(
        parts[3],
        json!({"type": "input_image", "detail": "low", "image_url": "data:image/png;base64,iVBORw=="})
    );
    assert_eq!(parts[4]["file_id"], "file-of-the-upstream");
    assert_eq!(found.len(), 4);
    assert_eq!(found[3], InputFile::Inline { filename: "b.txt".into(), content: b"hi".to_vec() });
    assert!(found[3].path().ends_with("-b.txt"));
}

#[tokio::test]
async fn without_code_every_file_of_ours_is_put_into_the_item_wherever_it_stands() {
    let home = tempfile::tempdir().unwrap();
    let store = Store::open(home.path()).await.unwrap();
    let owner = Owner::anonymous();
    let mut content = &b"1,2"[..];
    let table = store.add_file(&owner, "a.csv", "assistants", None, &mut content, 100).await.unwrap().id;
    let inline = json!({"type": "input_file", "filename": "a.csv", "file_data": "data:text/csv;base64,MSwy"});
    let named = json!({"type": "input_file", "file_id": table});
    let mut message = json!({"role": "user", "content": [named]});
    let mut output = json!({"type": "function_call_output", "call_id": "c", "output": [named]});
    let mut screen = json!({"type": "computer_call_output", "call_id": "c",
        "output": {"type": "computer_screenshot", "file_id": table}});
    let mut taken = TakenFiles::new(false, 0);
    for item in [&mut message, &mut output, &mut screen] {
        assert_eq!(parts_of(item).filter(|part| part["file_id"] == table).count(), 1);
        take_files(item, &owner, &store, &mut taken).await.unwrap();
    }
    assert_eq!(message["content"][0], inline);
    assert_eq!(output["output"][0], inline);
    assert_eq!(screen["output"]["image_url"], "data:image/png;base64,MSwy");
    assert!(screen["output"].get("file_id").is_none());
}

#[test]
fn a_file_too_large_for_a_message_is_refused_in_words() {
    let file = |bytes| FileRecord {
        id: "file-1".into(),
        owner: Owner::anonymous(),
        filename: "a.csv".into(),
        purpose: "assistants".into(),
        bytes,
        created_at: 0,
        expires_at: None,
    };
    let mut taken = TakenFiles::new(false, 0);
    taken.make_room(&file(50 << 20)).unwrap();
    let refused = taken.make_room(&file((50 << 20) + 1)).unwrap_err().to_string();
    assert!(refused.contains("'file-1'") && refused.contains("50 MiB"), "{refused}");
    // Together they have a bound too.
    assert!(taken.make_room(&file(50 << 20)).is_err());
}
