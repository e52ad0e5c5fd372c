from e2b_code_interpreter import Sandbox

with Sandbox.create() as sandbox:
    print(sandbox.run_code("1 + 1").text)
    print(sandbox.run_code("1 + 1", language="javascript").text)
    print("".join(sandbox.run_code("echo hello", language="bash").logs.stdout), end="")
