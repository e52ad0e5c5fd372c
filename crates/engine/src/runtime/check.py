# Run by check.rs in the new environment: everything that the zygote will import must work on this machine, and
# matplotlib makes its list of fonts (into MPLCONFIGDIR) once, for all sandboxes.
import importlib, importlib.util, sys

for name in sys.argv[1:]:
    if importlib.util.find_spec(name) is None:
        continue
    try:
        importlib.import_module(name)
    except BaseException as error:
        sys.exit("import %s failed: %s: %s" % (name, type(error).__name__, " ".join(str(error).split())[:300]))
