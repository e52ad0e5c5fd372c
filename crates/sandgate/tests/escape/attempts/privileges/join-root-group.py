# tries: join the group of root
# layer: caps
# control: escapes
# blocked: EPERM
def join():
    os.setresgid(0, 0, 0)
    return f"group {os.getegid()}"


attempt(lambda: in_child(join))
