from e2b_code_interpreter import Sandbox

sandbox = Sandbox.create(timeout=60)
print(sandbox.is_running())
sandbox.set_timeout(180)
info = sandbox.get_info()
print(round((info.end_at - info.started_at).total_seconds() / 60), info.metadata == {})
sandbox.kill()
