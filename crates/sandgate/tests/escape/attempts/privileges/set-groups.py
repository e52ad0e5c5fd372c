# tries: choose one's own list of groups
# layer: caps
# also: user
# control: escapes
# blocked: EPERM
attempt(lambda: in_child(lambda: os.setgroups([0]) or "groups"))
