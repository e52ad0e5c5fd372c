//! Containers that idled past their time: revived with their files, or an error where that is wanted.

use std::thread::sleep;
use std::time::Duration;

use sandgate_testkit::Turn;
use serde_json::json;

use crate::common::{OUTPUTS, World};

fn turns() -> [Turn; 4] {
    [
        Turn::code("x = 1\nopen('/mnt/data/kept.txt', 'w').write('still here')"),
        Turn::text("ok"),
        Turn::code("print('x' in globals(), open('/mnt/data/kept.txt').read())"),
        Turn::text("ok"),
    ]
}

#[test]
fn an_expired_container_comes_back_with_its_files_and_the_model_is_told() {
    let world = World::with("responses", "idle_seconds: 1");
    let client = world.client(turns());
    let first = client.respond(json!({}));
    let container = first["output"][0]["container_id"].as_str().unwrap();
    // Looked at every five seconds.
    sleep(Duration::from_secs(8));
    let next = json!({"previous_response_id": first["id"], "include": [OUTPUTS]});
    let second = client.respond(next);
    assert_eq!(second["output"][0]["container_id"], container);
    assert_eq!(second["output"][0]["outputs"][0]["logs"], "False still here\n");
    let told = &world.bodies(&client)[3]["input"];
    let told = told.as_array().unwrap().last().unwrap()["output"].as_str().unwrap();
    assert!(told.contains("variables") && told.contains("files"), "{told}");
    let shown = client.get(&format!("/v1/containers/{container}")).ok();
    assert_eq!(shown["status"], "running");
}

#[test]
fn strict_says_what_the_original_says() {
    let world = World::with("responses", "idle_seconds: 1\ngate: {strict_containers: true}");
    let client = world.client(turns());
    let first = client.respond(json!({}));
    let container = first["output"][0]["container_id"].as_str().unwrap();
    sleep(Duration::from_secs(3));
    let error = client.create(json!({"previous_response_id": first["id"]})).refused(400);
    assert_eq!(
        error,
        json!({"message": "Container is expired.", "type": "invalid_request_error",
        "param": null, "code": null})
    );
    let named = json!([{"type": "code_interpreter", "container": container}]);
    assert_eq!(client.create(json!({"tools": named})).refused(400)["message"], "Container is expired.");
    assert_eq!(client.get(&format!("/v1/containers/{container}")).ok()["status"], "expired");
    assert_eq!(world.asked(&client).len(), 2, "nobody was asked in vain");
}
