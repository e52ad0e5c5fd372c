"""Short words for what most tests say: turns of the scripted model, and fields of a request."""

MODEL = "gpt-5.6-sol"
AUTO = {"type": "code_interpreter", "container": {"type": "auto"}}
OUTPUTS = "code_interpreter_call.outputs"
# A request for code, whose outputs are shown.
CODE = {"model": MODEL, "input": "Compute it.", "tools": [AUTO], "include": [OUTPUTS]}


def turn(*items, **fields):
    """One answer of the model."""
    return {"items": list(items), **fields}


def code(text):
    return turn({"code": text})


def say(text, **fields):
    return turn({"text": text}, **fields)


def calls(response):
    return [item for item in response.output if item.type == "code_interpreter_call"]


def logs(response):
    """What the code printed, all calls together."""
    outputs = [output for call in calls(response) for output in call.outputs]
    return "".join(output.logs for output in outputs if output.type == "logs")


def kinds(things):
    return [thing.type for thing in things]
