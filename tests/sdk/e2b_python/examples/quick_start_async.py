import asyncio

from e2b_code_interpreter import AsyncSandbox


async def main():
    sandbox = await AsyncSandbox.create()
    await sandbox.run_code("x = 1")
    execution = await sandbox.run_code("x += 1; x")
    print(execution.text)
    await sandbox.kill()


asyncio.run(main())
