"""Tests of what the server does not do yet, each with the reason.

They run, and are expected to fail. One that passes fails the run, so that it is taken off this list.
"""

ROOT = "a sandbox has one user, `user`, and no root"

# By the name of the test, without its parameters; or with them in brackets, where only some wait.
WAITING = {
    "test_a_command_of_root": ROOT,
}


def reason_to_wait(item):
    parameters = item.name.partition("[")[2].rstrip("]").split("-")
    names = [item.originalname, *(f"{item.originalname}[{parameter}]" for parameter in parameters)]
    return next((WAITING[name] for name in names if name in WAITING), None)
