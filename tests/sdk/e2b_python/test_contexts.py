"""Contexts: interpreters beside each other in one sandbox."""

import pytest
from e2b import NotFoundException

pytestmark = pytest.mark.anyio


async def test_contexts_do_not_share_their_state(sandbox):
    context = await sandbox.create_code_context()
    assert (context.language, context.cwd) == ("python", "/home/user")
    await sandbox.run_code("x = 'default'")
    run = await sandbox.run_code("'x' in globals()", context=context)
    assert run.text == "False" and run.error is None


async def test_a_context_has_a_folder_of_its_own(sandbox):
    await sandbox.files.make_dir("/home/user/work")
    context = await sandbox.create_code_context(cwd="/home/user/work", language="python")
    assert context.cwd == "/home/user/work"
    run = await sandbox.run_code("import os; os.getcwd()", context=context)
    assert run.text == "/home/user/work"


async def test_the_list_has_the_default_ones_and_the_newest_last(sandbox):
    made = await sandbox.create_code_context()
    listed = await sandbox.list_code_contexts()
    assert listed[-1].id == made.id
    assert [context.language for context in listed[:-1]] == ["python", "javascript"]
    await sandbox.run_code("globalThis.x = 41", language="js")
    (default,) = [context for context in await sandbox.list_code_contexts() if context.language == "javascript"]
    assert (await sandbox.run_code("x + 1", context=default)).text == "42"
    await sandbox.restart_code_context(default)
    assert (await sandbox.run_code("typeof x", context=default)).text == "undefined"


async def test_a_restart_forgets_and_keeps_the_files(sandbox):
    context = await sandbox.create_code_context()
    await sandbox.run_code("x = 1; open('kept.txt', 'w').write('kept')", context=context)
    await sandbox.restart_code_context(context)
    run = await sandbox.run_code("('x' in globals(), open('kept.txt').read())", context=context)
    assert run.text == "(False, 'kept')"


async def test_a_removed_context_is_not_found(sandbox):
    context = await sandbox.create_code_context()
    await sandbox.remove_code_context(context.id)
    assert context.id not in [one.id for one in await sandbox.list_code_contexts()]
    for call in (
        sandbox.run_code("1", context=context),
        sandbox.restart_code_context(context),
        sandbox.remove_code_context(context),
    ):
        with pytest.raises(NotFoundException, match=context.id):
            await call


async def test_a_context_of_another_language(sandbox):
    context = await sandbox.create_code_context(language="javascript")
    assert context.language == "javascript"
    run = await sandbox.run_code("6 * 7", context=context)
    assert run.text == "42"
