import asyncio
from datetime import timedelta

from code_interpreter import CodeInterpreter, SupportedLanguage
from opensandbox import Sandbox
from opensandbox.config import ConnectionConfig


async def main():
    config = ConnectionConfig(request_timeout=timedelta(seconds=60))
    sandbox = await Sandbox.create(
        "opensandbox/code-interpreter:v1.1.0",
        connection_config=config,
        entrypoint=["/opt/code-interpreter/code-interpreter.sh"],
        env={"PYTHON_VERSION": "3.11", "JAVA_VERSION": "17", "NODE_VERSION": "20", "GO_VERSION": "1.24"},
    )
    async with sandbox:
        interpreter = await CodeInterpreter.create(sandbox=sandbox)
        context = await interpreter.codes.create_context(SupportedLanguage.PYTHON)
        result = await interpreter.codes.run(
            "import sys\nprint(sys.version)\nresult = 2 + 2\nresult", context=context
        )
        if result.result:
            print(result.result[0].text)
        await sandbox.kill()


asyncio.run(main())
