# tries: follow a redirect from an allowed host to a forbidden one
# control: escapes
# blocked: not-allowed
import urllib.error
import urllib.request


def follow():
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({"http": "http://127.0.0.1:3128"}))
    try:
        with opener.open("http://allowed.test/redirect", timeout=PATIENCE) as page:
            return judged(page.read())
    except urllib.error.HTTPError as error:
        return judged(error.read())


attempt(follow)
