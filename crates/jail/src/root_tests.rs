//! What a sandbox is told of the distribution that its programs are from.

use super::os_release;

#[test]
fn the_distribution_is_told_and_nothing_of_the_machine() {
    let host = "PRETTY_NAME=\"Debian GNU/Linux 12\"\nNAME=\"Debian GNU/Linux\"\nVERSION_ID=\"12\"\nID=debian\nBUG_REPORT_URL=\"https://x\"\nIMAGE_ID=ours\n# ID=no\n";
    let expected =
        "NAME=\"Debian GNU/Linux\"\nVERSION_ID=\"12\"\nID=debian\nPRETTY_NAME=\"Sandgate sandbox\"\n";
    assert_eq!(os_release(host), expected);
    assert_eq!(os_release(""), "ID=linux\nPRETTY_NAME=\"Sandgate sandbox\"\n");
}
