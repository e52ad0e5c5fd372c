from e2b import SandboxQuery
from e2b_code_interpreter import Sandbox

alice = Sandbox.create(metadata={"user": "alice"})
bob = Sandbox.create(metadata={"user": "bob"})
found = Sandbox.list(query=SandboxQuery(metadata={"user": "alice"})).next_items()
print([one.metadata["user"] for one in found], len(found))
alice.kill()
bob.kill()
