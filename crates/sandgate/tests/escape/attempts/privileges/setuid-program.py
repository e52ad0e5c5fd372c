# tries: run a program of root that has the setuid bit, as an ordinary user, and see whether it runs as root
# layer: nnp
# also: user, mount
# control: escapes
# blocked: same-user
import subprocess


def run():
    if os.getuid() == 0:
        os.setresgid(65534, 65534, 65534)
        os.setresuid(65534, 65534, 65534)
    # It waits for a password that never comes; meanwhile /proc tells whose it is.
    nowhere = subprocess.DEVNULL
    waiting = subprocess.Popen(["/usr/bin/su", "-c", "true"], stdin=subprocess.PIPE, stdout=nowhere, stderr=nowhere)
    seen = 0
    try:
        for _ in range(50):
            with open(f"/proc/{waiting.pid}/status") as status:
                lines = status.read().splitlines()
            name = lines[0].split()[1]
            real, effective = next(line for line in lines if line.startswith("Uid:")).split()[1:3]
            if name == "su":
                if real != effective:
                    return "the program runs as root"
                seen += 1
                # A moment before it changes its user, a starting program has its new name already.
                if seen == 5:
                    raise Blocked("same-user")
            if waiting.poll() is not None:
                raise Blocked("same-user")
            time.sleep(0.01)
        raise RuntimeError("the program did not start")
    finally:
        waiting.stdin.close()
        if waiting.poll() is None:
            waiting.kill()
        waiting.wait()


attempt(lambda: in_child(run))
