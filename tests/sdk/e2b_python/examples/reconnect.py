from e2b_code_interpreter import Sandbox

first = Sandbox.create()
first.run_code("answer = 42")
second = Sandbox.connect(first.sandbox_id)
print(second.run_code("answer").text)
second.kill()
