"""Going on from what was: earlier responses, replayed items, conversations, and what is kept of them."""

import pytest
from openai import NotFoundError
from words import CODE, MODEL, calls, code, kinds, logs, say

KEEP = code("kept = 42\nprint('kept')")
SHOW = code("print(kept)")


def test_previous_response_id_keeps_variables_and_context(client, script):
    script(KEEP, say("Kept."), SHOW, say("It is 42."))
    first = client.responses.create(**CODE)
    second = client.responses.create(**{**CODE, "input": "And now?"}, previous_response_id=first.id)
    assert second.previous_response_id == first.id and logs(second) == "42\n"
    assert calls(second)[0].container_id == calls(first)[0].container_id
    seen = str(script.asked()[2]["input"])
    assert all(text in seen for text in ("Compute it.", "kept = 42", "Kept.", "And now?"))


def full(item):
    return item.to_dict()


def with_null(item):
    return {**item.to_dict(), **({"outputs": None} if item.type == "code_interpreter_call" else {})}


def left_out(item):
    return {name: value for name, value in item.to_dict().items() if name != "outputs"}


def by_reference(item):
    return {"type": "item_reference", "id": item.id}


@pytest.mark.parametrize("form", [full, with_null, left_out, by_reference])
def test_replayed_items_in_all_four_forms(client, script, form):
    script(KEEP, say("Kept."), SHOW, say("It is 42."))
    first = client.responses.create(**CODE)
    asked = [{"role": "user", "content": "Compute it."}]
    replay = [*asked, *[form(item) for item in first.output], {"role": "user", "content": "And now?"}]
    second = client.responses.create(**{**CODE, "input": replay})
    assert logs(second) == "42\n"
    assert calls(second)[0].container_id == calls(first)[0].container_id
    (output,) = [item for item in script.asked()[2]["input"] if item.get("type") == "function_call_output"]
    assert "kept" in str(output["output"])


@pytest.mark.parametrize("replayed", [False, True], ids=["by previous_response_id", "by replayed items"])
def test_the_upstream_hears_nothing_of_our_containers(client, script, replayed):
    written = code("open('/mnt/data/a.txt', 'w').write('x')")
    script(written, say("See sandbox:/mnt/data/a.txt"), say("Welcome."))
    first = client.responses.create(**CODE)
    thanks = {"role": "user", "content": "Thanks."}
    if replayed:
        client.responses.create(**{**CODE, "input": [*first.output, thanks]})
    else:
        client.responses.create(**{**CODE, "input": [thanks]}, previous_response_id=first.id)
    heard = str(script.asked()[-1])
    assert "See sandbox:/mnt/data/a.txt" in heard
    assert "cntr_" not in heard and "cfile_" not in heard


def test_a_conversation(client, script):
    items = [{"type": "message", "role": "user", "content": "My name is Ada."}]
    conversation = client.conversations.create(items=items, metadata={"topic": "names"})
    script(KEEP, say("Kept, Ada."), SHOW, say("It is 42."))
    first = client.responses.create(**CODE, conversation=conversation.id)
    assert first.conversation.id == conversation.id
    second = client.responses.create(**CODE, conversation={"id": conversation.id})
    assert logs(second) == "42\n"
    assert "My name is Ada." in str(script.asked()[0]["input"])

    held = list(
        client.conversations.items.list(conversation.id, order="asc", limit=2, include=CODE["include"])
    )
    one_request = ["message", "code_interpreter_call", "message"]
    assert kinds(held) == ["message", *one_request, *one_request]
    assert held[2].outputs[0].logs == "kept\n"
    assert client.conversations.items.retrieve(held[0].id, conversation_id=conversation.id).id == held[0].id
    client.conversations.items.delete(held[0].id, conversation_id=conversation.id)
    added = client.conversations.items.create(conversation.id, items=items)
    assert kinds(added.data) == ["message"]
    assert client.conversations.update(conversation.id, metadata={"topic": "x"}).metadata == {"topic": "x"}
    assert client.conversations.retrieve(conversation.id).metadata == {"topic": "x"}
    assert client.conversations.delete(conversation.id).deleted
    with pytest.raises(NotFoundError):
        client.conversations.retrieve(conversation.id)


def test_a_response_is_kept_until_it_is_deleted(client, script):
    script(code("print(1)"), say("Done."))
    asked = [{"role": "user", "content": "One."}, {"role": "user", "content": "Two."}]
    response = client.responses.create(**{**CODE, "input": asked})
    assert client.responses.retrieve(response.id, include=CODE["include"]) == response
    assert calls(client.responses.retrieve(response.id))[0].outputs is None
    items = list(client.responses.input_items.list(response.id, order="asc", limit=1))
    assert [item.content[0].text for item in items] == ["One.", "Two."]
    client.responses.delete(response.id)
    with pytest.raises(NotFoundError, match=response.id):
        client.responses.retrieve(response.id)


def test_one_that_is_not_to_be_stored_is_not(client, script):
    script(code("print(1)"), say("Done."))
    response = client.responses.create(**CODE, store=False)
    assert response.store is False and response.output_text == "Done."
    with pytest.raises(NotFoundError):
        client.responses.retrieve(response.id)


def test_without_code_it_goes_to_the_upstream_and_back(client, script):
    script(say("Hello."))
    response = client.responses.create(model=MODEL, input="Hi.")
    assert response.output_text == "Hello." and kinds(response.output) == ["message"]
