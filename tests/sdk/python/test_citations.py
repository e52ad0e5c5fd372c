"""Figures and files that code makes: cited in the message, and downloaded by what the citation says."""

import base64

from words import CODE, calls, code, say

FIGURE = "import matplotlib.pyplot as plt\nplt.plot([1, 4, 9])\nplt.show()"
TABLE = "open('/mnt/data/sums.csv', 'w').write('a,b\\n1,2\\n')"


def annotations(response):
    return response.output[-1].content[0].annotations


def download(client, citation):
    content = client.containers.files.content.retrieve(citation.file_id, container_id=citation.container_id)
    return content.read()


def test_a_figure_is_shown_cited_and_downloaded(client, script):
    script(code(FIGURE), say("Here it is."))
    response = client.responses.create(**CODE)
    (call,) = calls(response)
    (image,) = [output for output in call.outputs if output.type == "image"]
    before, data = image.url.split(",", 1)
    assert before == "data:image/png;base64"
    (citation,) = annotations(response)
    assert citation.type == "container_file_citation" and citation.container_id == call.container_id
    assert (citation.start_index, citation.end_index) == (0, 0)
    assert citation.filename == f"{citation.file_id}.png" and citation.file_id.startswith("cfile_")
    assert download(client, citation) == base64.b64decode(data)


def test_a_link_is_cited_at_its_exact_range(client, script):
    text = "Größe 📈: [the table](sandbox:/mnt/data/sums.csv)."
    script(code(TABLE), code(FIGURE), say(text))
    response = client.responses.create(**CODE)
    figure, table = annotations(response)
    assert figure.filename.endswith(".png")
    assert response.output_text == text
    assert text[table.start_index : table.end_index] == "sandbox:/mnt/data/sums.csv"
    assert table.filename == "sums.csv"
    assert download(client, table) == b"a,b\n1,2\n"


def test_citations_are_streamed_after_the_text(client, script):
    script(code(TABLE), say("See sandbox:/mnt/data/sums.csv"))
    events = list(client.responses.create(**CODE, stream=True))
    types = [event.type for event in events]
    place = types.index("response.output_text.annotation.added")
    assert types[place - 1] == "response.output_text.delta"
    assert types[place + 1] == "response.output_text.done"
    (citation,) = annotations(events[-1].response)
    assert events[place].annotation.to_dict() == citation.to_dict()


def test_a_file_that_was_not_linked_is_in_the_container(client, script):
    script(code(TABLE), say("I forgot the link."))
    response = client.responses.create(**CODE)
    assert annotations(response) == []
    (file,) = client.containers.files.list(calls(response)[0].container_id)
    assert (file.path, file.source, file.bytes) == ("/mnt/data/sums.csv", "assistant", 8)
