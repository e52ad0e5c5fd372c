# tries: find folders that only the host has, such as its logs
# layer: mount
# control: escapes
# blocked: ENOENT
attempt(lambda: f"/var/log has {os.stat('/var/log').st_nlink} links")
