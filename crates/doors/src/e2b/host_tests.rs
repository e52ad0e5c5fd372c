//! Names that mean a sandbox, and names that do not.

use super::*;

const DOMAIN: Option<&str> = Some("Sbx.Example:8443");

fn found(id: &str, port: u16) -> Place {
    Place::Sandbox { id: id.to_owned(), port }
}

#[test]
fn a_name_below_the_domain_is_a_sandbox_or_the_control_plane() {
    assert_eq!(place(DOMAIN, "api.sbx.example"), Place::Control);
    assert_eq!(place(DOMAIN, "API.SBX.EXAMPLE:8443"), Place::Control);
    assert_eq!(place(DOMAIN, "sandbox.sbx.example"), Place::Shared);
    assert_eq!(place(DOMAIN, "3000-iabc.sbx.example:443"), found("iabc", 3000));
    assert_eq!(place(DOMAIN, "49983-iabc-6532622b.sbx.example."), found("iabc", 49983));
    assert_eq!(place(None, "3000-iabc.localhost:4000"), found("iabc", 3000));
}

#[test]
fn any_other_name_is_not() {
    for host in [
        "sbx.example",
        "www.sbx.example",
        "0-iabc.sbx.example",
        "+1-iabc.sbx.example",
        "99999-iabc.sbx.example",
        "3000-.sbx.example",
        "3000-i_c.sbx.example",
        "x.3000-iabc.sbx.example",
        "3000-iabc.sbx.example.org",
        "3000-iabc.evilsbx.example",
        "localhost:4000",
        "api.localhost",
        "127.0.0.1:4000",
        "[::1]:4000",
        "",
    ] {
        assert_eq!(place(DOMAIN, host), Place::Elsewhere, "{host}");
    }
    assert_eq!(place(None, "3000-iabc.sbx.example"), Place::Elsewhere);
}
