# tries: set the priority of a process of the host (to what it is)
# layer: pid
# also: user
# control: escapes
# blocked: ESRCH
def set_priority():
    os.setpriority(os.PRIO_PROCESS, HOST_PID, os.getpriority(os.PRIO_PROCESS, HOST_PID))
    return "the priority can be set"


attempt(set_priority)
