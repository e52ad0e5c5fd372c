# Run inside a sandbox by the doctor: tries each layer and prints one line of JSON per layer.
import ctypes, errno, json, os, socket

libc = ctypes.CDLL(None, use_errno=True)


def status(key):
    for line in open("/proc/self/status"):
        if line.startswith(key + ":"):
            return line.split(":", 1)[1].strip()


def refused(action, *reasons):
    """The name of the error that stopped the action; empty when nothing did."""
    try:
        action()
    except OSError as problem:
        name = errno.errorcode.get(problem.errno, str(problem.errno))
        return name if not reasons or name in reasons else ""
    return ""


def call(number, *arguments):
    if libc.syscall(number, *arguments) < 0:
        raise OSError(ctypes.get_errno(), "")


def tell(layer, on, detail):
    print(json.dumps({"layer": layer, "on": bool(on), "detail": detail}))


spaces = {name: os.readlink(f"/proc/self/ns/{name}") for name in ("user", "mnt", "pid", "net", "ipc", "uts", "cgroup")}
tell("namespaces", True, spaces)
open("/mnt/data/probe", "w").close()
tell("ids", os.getuid() == 1000, f"user {os.getuid()} inside")
written = refused(lambda: open("/usr/probe", "w"), "EROFS", "EACCES")
tell("read-only root", written, f"writing to /usr: {written or 'possible'}")
seen = [name for name in os.listdir("/") if name in ("root", "boot", "sys", "srv", "media")]
tell("nothing of the host", not seen and not os.path.exists("/etc/shadow"), f"seen of the host: {seen or 'the runtime only'}")
numbers = [int(status(name), 16) for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")]
tell("no capabilities", not any(numbers), "all five sets are empty" if not any(numbers) else f"{numbers}")
tell("no new privileges", status("NoNewPrivs") == "1", f"NoNewPrivs {status('NoNewPrivs')}")
blocked = refused(lambda: call(101, 0, 0, 0, 0), "EPERM")  # ptrace
tell("seccomp", status("Seccomp") == "2" and blocked, f"tracing: {blocked or 'possible'}")
landlocked = refused(lambda: open("/proc/self/coredump_filter", "w"), "EACCES")
tell("Landlock", landlocked, f"writing below /proc: {landlocked or 'possible'}")
links = sorted(line.split(":")[0].strip() for line in open("/proc/net/dev").readlines()[2:])
away = refused(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).connect(("192.0.2.1", 9)), "ENETUNREACH")
tell("no network", links == ["lo"] and away, f"devices: {', '.join(links)}; an outside address: {away or 'reachable'}")
pids = sorted(int(name) for name in os.listdir("/proc") if name.isdigit())
tell("own processes only", pids[0] == 1 and len(pids) <= 3, f"{len(pids)} processes are seen")
masked = open("/proc/kallsyms").read() == "" and open("/proc/cmdline").read() == ""
tell("masked /proc", masked, "kernel symbols and command line are empty" if masked else "kernel symbols can be read")
descriptors = [int(name) for name in os.listdir("/proc/self/fd")]
tell("no inherited descriptors", len(descriptors) <= 10, f"{len(descriptors)} open, all its own")
