//! Tests of placeholders and of joined deltas.

use serde_json::json;

use super::*;

#[test]
fn ids_get_placeholders_in_order_of_appearance_wherever_they_stand() {
    let first = "cfile_6a3d55b72168819fae3ed0e37cef1595";
    let second = "cfile_00000000000000000000000000000000";
    let mut value = json!([
        {"id": first, "created_at": 1_782_404_525, "completed_at": null, "obfuscation": "u8jz"},
        {"filename": format!("{second}.png"), "text": format!("see {first}, not xcfile_{first}")},
    ]);
    normalise(&mut value);
    assert_eq!(
        value,
        json!([
            {"id": "<cfile_1>", "created_at": 0, "completed_at": null, "obfuscation": "<obfuscation>"},
            {"filename": "<cfile_2>.png", "text": format!("see <cfile_1>, not xcfile_{first}")},
        ])
    );
}

#[test]
fn words_that_only_look_like_ids_stay() {
    let mut value =
        json!({"code": "rs_cursor = msg_text; call_me()", "name": "fc_1", "text": "größe_msg_ ci_"});
    let before = value.clone();
    normalise(&mut value);
    assert_eq!(value, before);
}

#[test]
fn pictures_are_told_apart_but_not_kept() {
    let mut value =
        json!(["data:image/png;base64,AAAA", "data:image/png;base64,BBBB", "data:image/png;base64,AAAA"]);
    normalise(&mut value);
    assert_eq!(value[0], "data:image/png;base64,<png_1>");
    assert_eq!(value[1], "data:image/png;base64,<png_2>");
    assert_eq!(value[2], value[0]);
}

#[test]
fn deltas_are_joined_within_their_item_only() {
    let delta = |item: &str, text: &str, number: u64| json!({"type": "d", "sequence_number": number, "item_id": item, "delta": text});
    let events = [
        delta("a", "x", 0),
        delta("a", "y", 1),
        delta("b", "z", 2),
        json!({"type": "e", "sequence_number": 3}),
    ];
    let merged = merge_deltas(&events);
    assert_eq!(merged.len(), 3);
    assert_eq!(merged[0]["delta"], "xy");
    assert_eq!(merged[1], delta("b", "z", 1));
    assert_eq!(merged[2]["sequence_number"], 2);
}
