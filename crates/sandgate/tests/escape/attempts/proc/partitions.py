# tries: read the list of the host's disks
# layer: procmask
# control: escapes
# blocked: empty|EACCES|ENOENT
attempt(lambda: look("/proc/partitions"))
