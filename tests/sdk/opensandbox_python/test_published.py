"""Every example of the two packages' own descriptions, as it stands there but for domain and key."""

import asyncio
import os
import re

import published
import pytest
from code_interpreter import CodeInterpreter
from makes import made
from opensandbox import Sandbox
from opensandbox.config import ConnectionConfig
from opensandbox.models.sandboxes import NetworkRule

pytestmark = pytest.mark.anyio
INTERPRETER, BASE = "opensandbox-code-interpreter", "opensandbox"

# What each is to print, or what is to be found in what it made.
EXPECTED = {
    (INTERPRETER, "Quick Start"): "4\n",
    (INTERPRETER, "Synchronous Quick Start"): "4\n",
    (INTERPRETER, "Installing Python packages at runtime"): lambda names: names["execution"].exit_code == 0,
    (INTERPRETER, "0. Run with `language` (default language context)"): lambda names: names["execution"].result[0].text == "4",
    (INTERPRETER, "0. Run with `language` (default language context) 2"): lambda names: names["execution"].result[0].text == "42",
    (INTERPRETER, "1. Java Code Execution"): lambda names: names["execution"].result[0].text == "30",
    (INTERPRETER, "2. Python with State Persistence"): lambda names: (
        names["result"].result[0].text == "['Alice', 'Bob', 'Charlie', 'Dave']"
    ),
    (INTERPRETER, "3. Streaming Output Handling"): "".join(f"STDOUT: {number}\n\n" for number in range(5)),
    (INTERPRETER, "4. Multi-Language Context Isolation"): "",
    (BASE, "Quick Start"): "Hello Sandbox!\n",
    (BASE, "Synchronous Quick Start"): "Hello Sandbox!\n",
    (BASE, "1. Lifecycle Management"): re.compile(r"State: Running\nExpires: \d{4}-.*\n"),
    (BASE, "1. Lifecycle Management 2"): lambda names: names["manual"].id,
    (BASE, "3. Command Execution & Streaming"): re.compile(
        "".join(f"STDOUT: Count {number}\n" for number in range(1, 6)) + r"Command finished in \d+ms\n"
    ),
    (BASE, "4. Comprehensive File Operations"): "Content: Hello World\nFound: /tmp/hello.txt\n",
    (BASE, "5. Snapshots"): lambda names: names["restored"].id != names["sandbox"].id,
    (BASE, "7. Sandbox Management (Admin)"): re.compile(r"Found sandbox: \S+\n"),
    (BASE, "1. Connection Configuration"): "",
    (BASE, "3. Runtime Egress Policy Updates"): lambda names: names["policy"].default_action == "deny",
}
# And what cannot be run as it is.
LEFT_OUT = {
    (BASE, "Synchronous Sandbox Pool"): "it takes from its pool before that can be full",
    (BASE, "Synchronous Sandbox Pool 2"): "the same",
    (BASE, "Synchronous Sandbox Pool 3"): "it names a Redis of its own",
    (BASE, "2. Custom Health Check"): "it names an image that serves pages",
    (BASE, "6. Isolated Sessions"): "there are no sandboxes within sandboxes",
    (BASE, "2. Sandbox Creation Configuration"): "it asks for more memory than a sandbox may have",
    (BASE, "4. Credential Vault"): "nothing outside is reached with credentials of a sandbox's owner",
}
CODE = {
    (package, title): code for package in (INTERPRETER, BASE) for title, code in published.examples(package).items()
}


def test_none_is_forgotten():
    assert sorted(CODE) == sorted([*EXPECTED, *LEFT_OUT])


def as_expected(expected, said, names):
    if isinstance(expected, str):
        assert said == expected
    elif isinstance(expected, re.Pattern):
        assert expected.fullmatch(said), said
    else:
        assert expected(names), names


@pytest.mark.parametrize("which", EXPECTED, ids=" ".join)
async def test_an_example_runs(which, key):
    code = published.moved(CODE[which], os.environ["OPEN_SANDBOX_DOMAIN"], key)
    if published.is_program(code) and which[1] != "1. Connection Configuration":
        said = await asyncio.to_thread(published.run_program, code, "OPEN_SANDBOX_")
        return as_expected(EXPECTED[which], said, {})
    config = ConnectionConfig()
    async with made(config) as sandbox:
        interpreter = await CodeInterpreter.create(sandbox=sandbox)
        # What the text around a part takes for made.
        names = {"sandbox": sandbox, "sandbox_id": sandbox.id, "interpreter": interpreter, "config": config}
        names |= {"Sandbox": Sandbox, "ConnectionConfig": ConnectionConfig, "NetworkRule": NetworkRule, "asyncio": asyncio}
        said = await published.run_part(code, names)
        as_expected(EXPECTED[which], said, names)
        for extra in ("manual", "restored"):
            if extra in names:
                await names[extra].destroy()
