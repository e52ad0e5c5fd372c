# tries: make a file in a folder of the host that everybody may write to
# layer: mount
# also: landlock
# control: escapes
# blocked: ENOENT
attempt(lambda: creatable(HOST_WRITABLE))
