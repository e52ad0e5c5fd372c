# An interpreter of a notebook, whose displays are dropped on the way: it tells them. How to is source until the first
# one, as to compile it is the most of what a client's first code would wait for.
def _sandgate_teach(source, token, folder):
    try:
        shell = get_ipython()  # noqa: F821
    except NameError:
        return
    if hasattr(shell, "display_pub"):
        known = []

        # Bound here: code may give these names to something else.
        def publish(data, metadata=None, *, exec=exec, dict=dict, **_):
            if not known:
                scope = {}
                exec(source, scope)
                known.append(scope["_sandgate_tell"](token, folder))
            known[0]("d", dict(data))

        shell.display_pub.publish = publish
