# tries: open the memory of another container's process through /proc
# layer: pid
# also: user
# control: escapes
# blocked: ENOENT
attempt(lambda: openable(f"/proc/{NEIGHBOUR_PID}/mem", os.O_RDONLY))
