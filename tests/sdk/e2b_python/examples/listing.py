from e2b_code_interpreter import Sandbox

sandboxes = [Sandbox.create(timeout=60) for _ in range(2)]
running = Sandbox.list().next_items()
print(len(running), {one.sandbox_id for one in running} == {one.sandbox_id for one in sandboxes})
for sandbox in sandboxes:
    sandbox.kill()
