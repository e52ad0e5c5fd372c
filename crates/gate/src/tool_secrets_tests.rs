//! Tools without their secrets.

use serde_json::json;

use super::*;

#[test]
fn a_tool_is_told_without_its_secrets() {
    let tool = |policy: Value| {
        let environment = json!({"type": "container_auto", "memory_limit": "1g", "network_policy": policy});
        json!([{"type": "shell", "environment": environment},
            {"type": "namespace", "name": "n", "tools": [{"type": "shell", "environment": environment}]}])
    };
    let secrets = json!([{"domain": "a.example", "name": "TOKEN", "value": "hidden-value"}]);
    let mut tools = tool(json!({"type": "allowlist", "allowed_domains": ["a.example"],
        "domain_secrets": secrets}));
    forget_secrets(&mut tools);
    assert_eq!(tools, tool(json!({"type": "allowlist", "allowed_domains": ["a.example"]})));

    let call = json!({"type": "function", "name": "f", "parameters": {"properties": {"domain_secrets": {}}}});
    let mut same = call.clone();
    forget_secrets(&mut same);
    assert_eq!(same, call);
}
