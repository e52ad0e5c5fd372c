"""The server's own API, as far as the tests need it."""

import json
import threading
import urllib.error
import urllib.request


class Api:
    def __init__(self, url, key):
        self.url = url
        self.key = key

    def ask(self, method, path, body=None, request_id=None):
        headers = {"authorization": f"Bearer {self.key}", "content-type": "application/json"}
        if request_id:
            headers["x-request-id"] = request_id
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, headers, method=method)
        with urllib.request.urlopen(request, timeout=120) as answer:
            text = answer.read()
        return json.loads(text) if text else None

    def execute(self, code, request_id=None, **fields):
        return self.ask("POST", "/v1/execute", {"code": code, **fields}, request_id)

    def respond(self, code, request_id=None):
        """Loopback runs the fenced code of a message."""
        body = {
            "model": "loopback",
            "input": f"```python\n{code}\n```",
            "tools": [{"type": "code_interpreter", "container": {"type": "auto"}}],
            "include": ["code_interpreter_call.outputs"],
        }
        return self.ask("POST", "/v1/responses", body, request_id)

    def later(self, work):
        """Does it beside the test; `.result()` waits for it."""
        return Later(work)


class Later:
    def __init__(self, work):
        self._answer = None
        self._thread = threading.Thread(target=self._run, args=[work], daemon=True)
        self._thread.start()

    def _run(self, work):
        try:
            self._answer = work()
        except urllib.error.HTTPError as error:
            self._answer = json.loads(error.read())

    def result(self):
        self._thread.join(120)
        assert not self._thread.is_alive()
        return self._answer
