//! The requests are as long as they are said to be.

use super::{Size, plain};

#[test]
fn sizes_are_as_said() {
    let kilobytes = |size| plain(size, 0).len() / 1000;
    assert_eq!(kilobytes(Size::Small), 0);
    assert!((131..=137).contains(&kilobytes(Size::Long)), "{}", kilobytes(Size::Long));
    assert!((1990..=2010).contains(&kilobytes(Size::Picture)), "{}", kilobytes(Size::Picture));
}
