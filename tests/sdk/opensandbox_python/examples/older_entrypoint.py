import asyncio

from code_interpreter import CodeInterpreter
from opensandbox import Sandbox


async def main():
    # Where the first images had it.
    entrypoint = ["/opt/opensandbox/code-interpreter.sh"]
    sandbox = await Sandbox.create("opensandbox/code-interpreter:v1.0.1", entrypoint=entrypoint)
    async with sandbox:
        interpreter = await CodeInterpreter.create(sandbox)
        # A loop that reads, runs, and prints, with state that stays.
        for line in ["x = 1", "x += 41", "x", "print(x)", "y"]:
            execution = await interpreter.codes.run(line)
            for message in execution.logs.stdout:
                print(message.text, end="")
            for result in execution.result:
                print(result.text)
            if execution.error:
                print(execution.error.name, execution.error.value)
        await sandbox.kill()


asyncio.run(main())
