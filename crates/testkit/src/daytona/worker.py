"""What stands for Daytona's Python interpreter: code by line in, frames by line out, one namespace."""

import json
import os
import sys
import traceback

out = os.fdopen(os.dup(1), "w")
devnull = os.open(os.devnull, os.O_RDWR)
requests = os.fdopen(os.dup(0), "r")
os.dup2(devnull, 0)
os.dup2(devnull, 1)


def frame(kind, text="", name="", value="", trace=""):
    out.write(json.dumps({"type": kind, "text": text, "name": name, "value": value, "traceback": trace}) + "\n")
    out.flush()


class Stream:
    encoding = "utf-8"
    errors = "replace"

    def __init__(self, kind):
        self.kind = kind

    def write(self, text):
        if text:
            frame(self.kind, text)
        return len(text)

    def flush(self):
        pass

    def isatty(self):
        return False


scope = {"__name__": "__main__", "__builtins__": __builtins__}
sys.stdout, sys.stderr = Stream("stdout"), Stream("stderr")
sys.argv = [""]
for line in requests:
    request = json.loads(line)
    before = dict(os.environ)
    os.environ.update(request.get("envs") or {})
    try:
        exec(compile(request["code"], "<string>", "exec"), scope)
        frame("control", "completed")
    except KeyboardInterrupt:
        frame("control", "interrupted")
    except SystemExit:
        frame("control", "completed")
    except BaseException as error:
        frame("error", "", type(error).__name__, str(error), traceback.format_exc())
        frame("control", "completed")
    finally:
        os.environ.clear()
        os.environ.update(before)
