//! Files of messages, for the upstream and for the container.

use sandgate_core::Owner;
use sandgate_store::Store;
use serde_json::json;

use super::{InputFile, TakenFiles, take_files};

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
    let mut taken = TakenFiles::default();
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
