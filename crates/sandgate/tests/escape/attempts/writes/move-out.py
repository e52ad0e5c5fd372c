# tries: move a file from the working folder to the host
# layer: mount
# also: landlock
# control: escapes
# blocked: ENOENT
import shutil


def move():
    name, target = f".moved-{os.getpid()}", os.path.join(HOST_WRITABLE, f"moved-{os.getpid()}")
    open(name, "w").close()
    try:
        shutil.move(name, target)
        os.unlink(target)
    finally:
        if os.path.exists(name):
            os.unlink(name)
    return "moved to the host"


attempt(move)
