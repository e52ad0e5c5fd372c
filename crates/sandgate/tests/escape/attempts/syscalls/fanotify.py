# tries: watch the files of a whole file system
# layer: seccomp
# control: escapes
# blocked: EPERM
FAN_REPORT_FID = 0x200


def watch():
    os.close(syscall(NR.fanotify_init, FAN_REPORT_FID, 0))
    return "files can be watched"


attempt(watch)
