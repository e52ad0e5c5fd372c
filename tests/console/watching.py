"""Looks on while a page is open: nothing may run that the console did not bring, and nothing may go elsewhere."""


class Watch:
    def __init__(self, page, url):
        self.page = page
        self.seen = []
        self.forgiven = []
        page.on("dialog", self._dialog)
        page.on("pageerror", lambda error: self.seen.append(f"a script failed: {error}"))
        page.on("console", self._console)
        page.context.on("requestfinished", lambda request: self._request(request, url))
        page.context.on("requestfailed", lambda request: self._request(request, url))
        self.answers_to_dialogs = []
        self.allowed = []

    def allow(self, url):
        """Requests to there are part of the test."""
        self.allowed.append(url)

    def forgive(self, words):
        """Messages with these words are expected: the browser says what it refused."""
        self.forgiven.append(words)

    def _dialog(self, dialog):
        if self.answers_to_dialogs and dialog.type == "confirm":
            dialog.accept() if self.answers_to_dialogs.pop(0) else dialog.dismiss()
            return
        self.seen.append(f"a dialog: {dialog.message}")
        dialog.dismiss()

    def _console(self, message):
        if message.type == "error" and not any(words in message.text for words in self.forgiven):
            self.seen.append(f"the browser complained: {message.text}")

    def _request(self, request, url):
        # What the policy of the page held back never went out.
        is_ours = request.url.startswith((url, "data:", "blob:", "about:", *self.allowed))
        if not is_ours and request.failure not in ("csp", "net::ERR_BLOCKED_BY_CSP"):
            self.seen.append(f"a request went out: {request.url} ({request.failure})")

    def check(self):
        assert not self.seen, self.seen
