//! Fenced code in a message.

use super::fenced_blocks;

#[test]
fn each_fence_is_a_block_whatever_its_language() {
    let text = "Run\n```python\nprint(1)\n```\nand\n~~~\nx = 2\n\nx\n~~~\n";
    assert_eq!(fenced_blocks(text), ["print(1)\n", "x = 2\n\nx\n"]);
}

#[test]
fn a_longer_fence_may_hold_a_shorter_one() {
    assert_eq!(fenced_blocks("````\nprint('''\n```\n''')\n````"), ["print('''\n```\n''')\n"]);
}

#[test]
fn a_block_without_end_reaches_to_the_end() {
    assert_eq!(fenced_blocks("```py\n1 + 1"), ["1 + 1"]);
    assert_eq!(fenced_blocks("```py\r\n1 + 1\r\n```\r\n"), ["1 + 1\r\n"]);
}

#[test]
fn what_is_not_a_block_is_none() {
    for text in ["", "```inline``` code", "`` ` ``", "```\n \n```", "    ```\n    a\n    ```"] {
        assert!(fenced_blocks(text).is_empty(), "{text}");
    }
}
