"""A server that is closed but for keys of its own."""

import json
import secrets
import urllib.request

from programs import Sandgate


class ServerWithKeys:
    def __init__(self):
        master = f"sg-master-{secrets.token_hex(16)}"
        self._server = Sandgate(f"pool: 1\nmaster_key: '{master}'\n")
        self.url = self._server.url
        self.address = {"api_url": f"{self.url}/e2b", "sandbox_url": f"{self.url}/e2b"}
        request = urllib.request.Request(
            f"{self.url}/v1/admin/keys",
            json.dumps({"name": "tests"}).encode(),
            {"Authorization": f"Bearer {master}", "Content-Type": "application/json"},
            method="POST",
        )
        with urllib.request.urlopen(request) as answer:
            self.key = json.load(answer)["key"]

    def end(self):
        self._server.end()
