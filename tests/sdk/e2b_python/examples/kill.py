from e2b_code_interpreter import Sandbox

sandbox = Sandbox.create()
print(sandbox.kill(), sandbox.is_running(), Sandbox.kill(sandbox.sandbox_id))
