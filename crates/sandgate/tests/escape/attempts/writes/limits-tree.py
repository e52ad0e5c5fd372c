# tries: open the list of processes of a limit of the host for writing, to leave one's own limit
# layer: mount
# also: user, landlock
# control: escapes
# blocked: ENOENT
def leave():
    for folder in ("", "/memory", "/unified"):
        try:
            return openable(f"/sys/fs/cgroup{folder}/cgroup.procs", os.O_WRONLY)
        except FileNotFoundError as error:
            missing = error
    raise missing


attempt(leave)
