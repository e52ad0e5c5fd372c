# tries: read the interrupt counters, a clock of what the host types and sends
# layer: procmask
# control: escapes
# blocked: empty|EACCES|ENOENT
attempt(lambda: look("/proc/interrupts"))
