# An interpreter that only executes code: it tells the last value, displays, figures and errors.
def _sandgate_teach(source, token, folder):
    import os, sys, types

    scope = {}
    exec(source, scope)
    tell = scope["_sandgate_tell"](token, folder)

    METHODS = [
        ("text/html", "_repr_html_"),
        ("text/markdown", "_repr_markdown_"),
        ("text/latex", "_repr_latex_"),
        ("image/svg+xml", "_repr_svg_"),
        ("image/png", "_repr_png_"),
        ("image/jpeg", "_repr_jpeg_"),
        ("application/json", "_repr_json_"),
    ]

    def bundle(value):
        data = {"text/plain": repr(value)}
        if isinstance(value, type):
            return data
        for kind, name in METHODS:
            method = getattr(value, name, None)
            if method is None:
                continue
            try:
                shown = method()
            except Exception:
                continue
            if isinstance(shown, tuple):
                shown = shown[0]
            if shown is not None:
                data[kind] = shown
        return data

    def show_figures():
        pyplot = sys.modules.get("matplotlib.pyplot")
        if pyplot is None:
            return
        import io

        for number in pyplot.get_fignums():
            figure = pyplot.figure(number)
            image = io.BytesIO()
            figure.savefig(image, format="png", bbox_inches="tight")
            tell("d", {"text/plain": repr(figure), "image/png": image.getvalue()})
        pyplot.close("all")

    class Patching:
        # Shows figures when code says so, rather than opening a window that nobody sees.
        def find_spec(self, name, path=None, target=None):
            if name != "matplotlib.pyplot":
                return None
            sys.meta_path.remove(self)
            import importlib.util

            spec = importlib.util.find_spec(name)
            if spec is None or spec.loader is None:
                return spec
            load = spec.loader.exec_module

            def exec_module(module):
                load(module)
                module.switch_backend("Agg")
                module.show = lambda *args, **kwargs: show_figures()

            spec.loader.exec_module = exec_module
            return spec

    def value_of(body, last, name, scope):
        # With `await` at the top, as in a notebook: then all of the cell runs in a loop, which is the same for all
        # cells, so that what one began goes on in the next.
        import ast, inspect

        def compiled(tree, mode):
            return compile(tree, name, mode, flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)

        parts = [compiled(body, "exec")] + ([compiled(ast.Expression(last.value), "eval")] if last else [])
        awaits = [bool(part.co_flags & inspect.CO_COROUTINE) for part in parts]
        if not any(awaits):
            values = [eval(part, scope) for part in parts]
            return values[-1]
        import asyncio

        async def all_of_it():
            value = None
            for part, is_awaited in zip(parts, awaits):
                value = eval(part, scope)
                if is_awaited:
                    value = await value
            return value

        if run.loop is None or run.loop.is_closed():
            run.loop = asyncio.new_event_loop()
        asyncio.set_event_loop(run.loop)
        task = run.loop.create_task(all_of_it())
        try:
            return run.loop.run_until_complete(task)
        except BaseException:
            # Code that was stopped must not go on in the next cell, nor complain that nobody asked how it ended.
            task.cancelled() or task.exception() if task.done() else task.cancel()
            raise

    def is_quiet(last, source):
        # The text itself may end with a comment or a string that has a semicolon in it.
        lines = source.encode("utf-8", "surrogatepass").split(b"\n")[last.end_lineno - 1 :]
        return b"\n".join(lines)[last.end_col_offset :].lstrip(b" \t\f\r\n\\").startswith(b";")

    def run(source, scope):
        import ast, linecache, traceback

        run.count += 1
        name = "<cell %d>" % run.count
        linecache.cache[name] = (len(source), None, source.splitlines(True), name)
        scope.setdefault("display", lambda *values: [tell("d", bundle(value)) for value in values] and None)
        try:
            tree = ast.parse(source, name)
            last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
            value = value_of(tree, last, name, scope)
            if value is not None and not is_quiet(last, source):
                scope["_"] = value
                tell("v", bundle(value))
            show_figures()
        except BaseException as error:
            sys.stdout.flush()
            sys.stderr.flush()
            # An interrupt is how code is ended from outside: who did it tells of it.
            if isinstance(error, KeyboardInterrupt):
                raise
            value = str(error)
            if isinstance(error, SystemExit):
                # Wanted, and so not worth a place in the code.
                value = "0" if error.code is None else value
                lines = ["%s: %s" % (type(error).__name__, value)]
            else:
                frames = error.__traceback__
                while frames is not None and frames.tb_frame.f_code.co_filename != name:
                    frames = frames.tb_next
                lines = traceback.format_exception(type(error), error, frames)
            tell("e", {"name": type(error).__name__, "value": value, "traceback": "".join(lines).splitlines()})

    run.count = 0
    run.loop = None
    module = types.ModuleType("_sandgate")
    module.run = run
    sys.modules["_sandgate"] = module
    os.environ.setdefault("MPLBACKEND", "Agg")
    sys.meta_path.insert(0, Patching())
