# tries: read the resource limits of a process of the host
# layer: pid
# also: user
# control: escapes
# blocked: ESRCH
import resource

attempt(lambda: f"open files: {resource.prlimit(HOST_PID, resource.RLIMIT_NOFILE)[0]}")
