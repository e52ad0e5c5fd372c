# tries: become root
# layer: caps
# control: escapes
# blocked: EPERM
def become():
    os.setresuid(0, 0, 0)
    return f"user {os.geteuid()}"


attempt(lambda: in_child(become))
