"""Runs one cell: plain Python by a short way of its own, everything else through IPython's `run_cell`."""

import ast
import re
import sys

from IPython.core.autocall import IPyAutocall
from IPython.core.error import InputRejected
from IPython.core.interactiveshell import ExecutionInfo, ExecutionResult
from IPython.core.macro import Macro

from . import errors

FIRST_NAME = re.compile(r"\w+")
ONLY_TREE = ast.PyCF_ONLY_AST


class Cells:
    """Knows when IPython's transformations can change nothing, and keeps its visible state when it skips them."""

    def __init__(self, shell):
        self.shell = shell
        # True while the last expression is evaluated and shown: nothing but the end of the cell can follow.
        self.in_last_expression = False
        self.usual_transforms = self._transforms()

    def run(self, raw):
        """Runs a cell and returns its error report, or None when it ended well."""
        shell = self.shell
        shell.shown_error = None
        shell.inner_failure = False
        shell.side_errors = shell.run_depth = 0
        self.in_last_expression = False
        plan = self._plan(raw)
        if plan is None:
            result = shell.run_cell(raw, store_history=True)
        else:
            result = self._run_plain(raw, *plan)
        error = shell.shown_error
        if result.success and not shell.inner_failure:
            if error is not None:  # shown by the cell itself, which then went on
                print("\n".join(error["traceback"]), file=sys.stderr)
            return None
        if error is None:
            problem = result.error_in_exec or result.error_before_exec
            error = errors.describe(shell, type(problem), problem, problem.__traceback__)
        return error

    def _plan(self, raw):
        """The source, its file name and its syntax tree when it is plain Python; None when IPython must look at it.

        IPython's own syntax never parses as Python, with these exceptions: pasted prompts (`In [1]: x` is an
        annotation), magics without `%` and macros, which are single lines that start with their name. Cells that
        await run inside an event loop, which IPython keeps.
        """
        source = raw.lstrip("\n")
        if not source or source[0].isspace() or "In [" in source or "await" in source or "async" in source:
            return None
        shell = self.shell
        if shell.input_transformers_post or self._transforms() != self.usual_transforms:
            return None
        if source[-1] != "\n":
            source += "\n"
        if source.find("\n") == len(source) - 1 and self._is_command(source):
            return None
        compiler = shell.compile
        name = compiler.get_code_name(raw, source, shell.execution_count)
        try:
            return source, name, compile(source, name, "exec", compiler.flags | ONLY_TREE, True)
        except Exception:
            return None  # IPython says what is wrong with it.

    def _transforms(self):
        manager = self.shell.input_transformer_manager
        return len(manager.cleanup_transforms), len(manager.line_transforms), len(manager.token_transformers)

    def _is_command(self, line):
        match = FIRST_NAME.match(line)
        if match is None:
            return False
        shell, name = self.shell, match[0]
        if name in shell.user_ns:
            bare = len(line.rstrip()) == len(name)
            return bool(shell.autocall or bare and isinstance(shell.user_ns[name], (IPyAutocall, Macro)))
        if name in shell.builtin_trap_names:
            return bool(shell.autocall)
        return bool(shell.autocall or shell.find_magic(name))

    def _run_plain(self, raw, source, name, tree):
        shell = self.shell
        number = shell.execution_count
        info = ExecutionInfo(raw, True, False, True, None, None, transformed_cell=source)
        result = ExecutionResult(info)
        result.execution_count = number
        shell.execution_count = number + 1
        trigger = shell.events.trigger
        try:
            trigger("pre_execute")
            trigger("pre_run_cell", info)
            shell.history_manager.store_inputs(number, source, raw)
            if shell._logger is not None:
                shell.logger.log(source, raw)
            shell.compile.cache(source, number, raw_code=raw)
            shell.displayhook.exec_result = result
            try:
                self._execute(tree, name, result)
            finally:
                shell.displayhook.exec_result = None
                self.in_last_expression = False
            shell.last_execution_succeeded = result.success
            shell.last_execution_result = result
        finally:
            trigger("post_execute")
            trigger("post_run_cell", result)
        return result

    def _execute(self, tree, name, result):
        shell = self.shell
        try:
            if shell.ast_transformers:
                tree = shell.transform_ast(tree)
            body, last = tree.body, None
            interactivity = shell.ast_node_interactivity
            if interactivity == "last_expr":
                if body and isinstance(body[-1], ast.Expr):
                    last = ast.Interactive([body.pop()])
            elif interactivity != "none":
                self._execute_as_ipython(body, name, result)
                return
            before = shell.compile(tree, name, "exec") if body else None
            if last is not None:
                last = shell.compile(last, name, "single")
        except (SyntaxError, ValueError, OverflowError, MemoryError, RecursionError, InputRejected) as problem:
            result.error_before_exec = problem
            if isinstance(problem, SyntaxError):
                shell.showsyntaxerror()
            else:
                shell.showtraceback()
            return
        try:
            if before is not None:
                exec(before, shell.user_ns)
            if last is not None:
                self.in_last_expression = True
                exec(last, shell.user_ns)
        except BaseException as problem:
            result.error_in_exec = problem
            if shell.custom_exceptions and isinstance(problem, shell.custom_exceptions):
                shell.CustomTB(type(problem), problem, problem.__traceback__)
            else:
                shell.showtraceback()

    def _execute_as_ipython(self, body, name, result):
        """The other settings of `ast_node_interactivity` are rare: IPython's own loop knows them."""
        steps = self.shell.run_ast_nodes(
            body, name, interactivity=self.shell.ast_node_interactivity, compiler=self.shell.compile, result=result
        )
        try:
            steps.send(None)
        except StopIteration:
            pass
