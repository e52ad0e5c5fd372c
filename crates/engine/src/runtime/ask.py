# Run with `python -I -c` by ask.rs in every interpreter that is considered, so it must parse in old ones too.
import json, os, sys, sysconfig

missing = []
try:
    import venv
except Exception:
    missing.append("venv")
try:
    import ensurepip

    ensurepip.version()
except Exception:
    missing.append("ensurepip")

files = set()
try:
    with open("/proc/self/maps") as maps:
        files = set(f[5] for f in (line.split(None, 5) for line in maps) if len(f) == 6 and f[5].startswith("/"))
except OSError:
    pass

var = sysconfig.get_config_var
print(json.dumps({
    "version": list(sys.version_info[:3]),
    "prerelease": sys.version_info[3] != "final",
    "implementation": sys.implementation.name,
    "interpreter": os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable),
    "base_prefix": os.path.realpath(sys.base_prefix),
    "config_args": var("CONFIG_ARGS") or "",
    "cflags": " ".join(str(var(name) or "") for name in ("PY_CFLAGS", "PY_CORE_CFLAGS", "PY_CORE_LDFLAGS")),
    "debug": bool(var("Py_DEBUG")),
    "free_threaded": bool(var("Py_GIL_DISABLED")),
    "missing": missing,
    "mapped": sorted(name.strip() for name in files),
}))
