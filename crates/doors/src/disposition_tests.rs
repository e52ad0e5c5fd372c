use axum::http::HeaderValue;

use super::*;

#[test]
fn a_name_cannot_break_out_of_its_header() {
    let header = disposition("attachment", "a\"; x=1\r\n ü.csv");
    assert_eq!(
        header,
        "attachment; filename=\"a__ x_1__ _.csv\"; filename*=UTF-8''a%22%3B%20x%3D1%0D%0A%20%C3%BC.csv"
    );
    assert!(HeaderValue::from_str(&header).is_ok());
}
