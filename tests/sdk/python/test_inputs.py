"""What goes into a container: uploaded files, an explicit container, files and images of the input."""

import base64

from words import AUTO, CODE, calls, code, logs, say

LIST = "import os\nprint(sorted(os.listdir('/mnt/data')))"
# One pixel.
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def test_file_ids_are_mounted_by_id_and_name(client, script):
    file = client.files.create(file=("data.csv", b"a\n42\n"), purpose="user_data")
    script(code(f"print(open('/mnt/data/{file.id}-data.csv').read())"), say("Read."))
    container = {"type": "auto", "file_ids": [file.id]}
    tools = [{"type": "code_interpreter", "container": container}]
    response = client.responses.create(**{**CODE, "tools": tools})
    assert logs(response) == "a\n42\n\n"
    assert response.to_dict()["tools"] == tools
    (held,) = client.containers.files.list(calls(response)[0].container_id)
    assert held.source == "user"


def test_an_explicit_container_is_used_and_kept(client, script):
    container = client.containers.create(
        name="mine", expires_after={"anchor": "last_active_at", "minutes": 5}
    )
    client.containers.files.create(container.id, file=("notes.txt", b"remember"))
    script(
        code(LIST),
        say("There."),
        code("import glob\nprint(open(glob.glob('/mnt/data/*-notes.txt')[0]).read())"),
        say("Read."),
    )
    tools = [{"type": "code_interpreter", "container": container.id}]
    for _ in range(2):
        response = client.responses.create(**{**CODE, "tools": tools})
        assert [call.container_id for call in calls(response)] == [container.id]
    assert logs(response) == "remember\n"
    assert response.to_dict()["tools"] == tools


def test_files_and_images_of_the_input_are_in_the_container(client, script):
    def data(kind, content):
        return f"data:{kind};base64,{base64.b64encode(content).decode()}"

    script(code(LIST), say("There."))
    content = [
        {"type": "input_file", "filename": "notes.txt", "file_data": data("text/plain", b"remember")},
        {"type": "input_image", "image_url": data("image/png", PNG), "detail": "auto"},
        {"type": "input_text", "text": "Look at these."},
    ]
    response = client.responses.create(
        **{**CODE, "input": [{"role": "user", "content": content}], "tools": [AUTO]}
    )
    assert "notes.txt" in logs(response) and ".png" in logs(response)
