"""Rich display: every form of a value, as JSON that any reader takes."""

import base64
import unittest

from harness import KernelTest

PNG = b"\x89PNG\r\n\x1a\n"


class Display(KernelTest):
    def test_display_in_the_middle(self):
        run = self.assert_ok("print('a')\ndisplay(1, 'two')\nprint('b')")
        self.assertEqual(run.kinds, ["stdout", "display", "display", "stdout", "done"])
        self.assertEqual(run.displays, [{"text/plain": "1"}, {"text/plain": "'two'"}])

    def test_forms(self):
        forms = "HTML('<b>x</b>') Markdown('*x*') Latex('$x$') SVG('<svg/>') JSON({'a': 1}) Javascript('1')"
        expected = {
            "HTML": ("text/html", "<b>x</b>"),
            "Markdown": ("text/markdown", "*x*"),
            "Latex": ("text/latex", "$x$"),
            "JSON": ("application/json", {"a": 1}),
            "Javascript": ("application/javascript", "1"),
        }
        self.assert_ok("from IPython.display import *")
        for form in forms.split(") "):
            name = form.split("(")[0]
            data = self.assert_ok(form.rstrip(")") + ")").result
            self.assertIn("text/plain", data)
            if name in expected:
                mime, value = expected[name]
                self.assertEqual(data[mime], value)
            else:
                self.assertIn("<svg", data["image/svg+xml"])

    def test_bytes_become_base64(self):
        code = "class P:\n    def _repr_png_(self):\n        return b'\\x89PNG' * 200\nP()"
        data = self.assert_ok(code).result
        self.assertEqual(base64.b64decode(data["image/png"]), b"\x89PNG" * 200)
        self.assertNotIn("\n", data["image/png"])
        self.assert_ok("from IPython.display import Image")
        data = self.assert_ok("Image(data=b'\\x89PNG\\r\\n\\x1a\\n' + b'0' * 100, format='png')").result
        self.assertTrue(base64.b64decode(data["image/png"]).startswith(PNG))

    def test_mimebundle(self):
        code = (
            "class B:\n    def _repr_mimebundle_(self, include=None, exclude=None):\n"
            "        return {'application/vnd.x+json': {'n': float('inf'), 3: {1, 2}, 'b': b'x'}, "
            "'text/plain': 'B'}\nB()"
        )
        self.assertEqual(
            self.assert_ok(code).result,
            {"text/plain": "B", "application/vnd.x+json": {"n": None, "3": [1, 2], "b": "eA=="}},
        )

    def test_raw_display_and_updates(self):
        self.assertEqual(self.assert_ok("display({'text/x': 'y'}, raw=True)").displays, [{"text/x": "y"}])
        run = self.assert_ok(
            "h = display('one', display_id=True)\nh.update('two')\n"
            "from IPython.display import clear_output\nclear_output(wait=True)\nprint('three')"
        )
        self.assertEqual([each["text/plain"] for each in run.displays], ["'one'", "'two'"])
        self.assertEqual(run.stdout, "three\n")

    def test_own_formatters(self):
        self.assert_ok(
            "formatters = get_ipython().display_formatter.formatters\n"
            "formatters['text/html'].for_type(int, lambda n: f'<i>{n}</i>')"
        )
        self.assertEqual(self.assert_ok("5").result, {"text/plain": "5", "text/html": "<i>5</i>"})
        self.assert_ok("%precision 2")
        self.assertEqual(self.assert_ok("3.14159").text, "3.14")

    def test_long_sequences_are_whole(self):
        self.assertEqual(len(eval(self.assert_ok("list(range(3000))").text)), 3000)

    def test_too_large_display(self):
        run = self.assert_ok("class Big:\n    def _repr_html_(self):\n        return 'x' * (33 << 20)\nBig()", 30)
        self.assertEqual(run.results, [])
        self.assertIn("33 MiB left out", run.stderr)

    def test_data_frame(self):
        run = self.assert_ok(
            "import pandas as pd\n"
            "pd.DataFrame({'a': [1, 2], 'b': [0.5, None], 'd': pd.to_datetime(['2024-01-02', None]), "
            "3: ['x', 'y']})"
        )
        self.assertIn("<table", run.result["text/html"])
        self.assertEqual(set(run.result), {"text/plain", "text/html"})

    def test_pillow_images(self):
        run = self.assert_ok("from PIL import Image\nim = Image.new('RGB', (3, 3), 'red')\nim")
        self.assertEqual(set(run.result), {"text/plain", "image/png"})
        self.assertTrue(base64.b64decode(run.result["image/png"]).startswith(PNG))
        run = self.assert_ok("im.show()\nprint('shown')")
        self.assertEqual(run.kinds, ["display", "stdout", "done"])
        self.assertIn("image/png", run.displays[0])

    def test_object_that_displays_itself(self):
        run = self.assert_ok("class S:\n    def _ipython_display_(self):\n        print('myself')\nS()")
        self.assertEqual(run.kinds, ["stdout", "done"])


if __name__ == "__main__":
    unittest.main()
