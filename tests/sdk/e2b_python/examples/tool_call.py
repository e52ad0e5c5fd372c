import json

from e2b_code_interpreter import Sandbox

# What a model answers to "What is the sum of the first hundred numbers?" with a tool `execute_python`.
tool_call = {
    "type": "function",
    "function": {"name": "execute_python", "arguments": json.dumps({"code": "sum(range(1, 101))"})},
}
if tool_call["function"]["name"] == "execute_python":
    with Sandbox.create() as sandbox:
        code = json.loads(tool_call["function"]["arguments"])["code"]
        execution = sandbox.run_code(code)
        print(execution.text)
