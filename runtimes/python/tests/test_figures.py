"""Matplotlib figures appear once, where they are shown."""

import base64
import struct
import unittest

from harness import KernelTest


class Figures(KernelTest):
    def test_open_figure_is_shown_at_the_end(self):
        run = self.assert_ok(
            "import matplotlib.pyplot as plt\nlines = plt.plot([1, 2], [3, 4], label='l')\nprint('plotted')"
        )
        self.assertEqual(run.kinds, ["stdout", "display", "done"])
        data = run.displays[0]
        picture = base64.b64decode(data["image/png"])
        self.assertTrue(picture.startswith(b"\x89PNG"))
        self.assertNotIn("\n", data["image/png"])
        width, height = struct.unpack(">II", picture[16:24])
        self.assertTrue(450 < width < 700 and 350 < height < 500, (width, height))
        self.assertEqual(data["text/plain"], "<Figure size 640x480 with 1 Axes>")
        self.assertEqual(set(data), {"text/plain", "image/png"})
        self.assertEqual(self.assert_ok("plt.get_fignums()").text, "[]")

    def test_show_places_and_closes(self):
        run = self.assert_ok(
            "import matplotlib.pyplot as plt\nplt.plot([1])\nprint('a')\nplt.show()\nprint('b')\n"
            "plt.bar(['x'], [1])\nplt.show()"
        )
        self.assertEqual(run.kinds, ["stdout", "display", "stdout", "display", "done"])
        self.assertEqual(run.stderr, "")

    def test_several_figures_in_order(self):
        run = self.assert_ok(
            "import matplotlib.pyplot as plt\nfor n in (3, 1, 2):\n    plt.figure(figsize=(n, 1)); plt.plot([1])"
        )
        self.assertEqual([each["text/plain"].split()[2] for each in run.displays], ["300x100", "100x100", "200x100"])

    def test_figure_as_result_is_shown_once(self):
        run = self.assert_ok("import matplotlib.pyplot as plt\nfig, ax = plt.subplots()\nax.plot([1, 2])\nfig")
        self.assertEqual(run.kinds, ["result", "done"])
        self.assertIn("image/png", run.result)
        self.assertEqual(self.assert_ok("fig").kinds, ["result", "done"])
        run = self.assert_ok("fig, ax = plt.subplots()\nax.plot([1, 2])\ndisplay(fig)\nprint('end')")
        self.assertEqual(run.kinds, ["display", "stdout", "done"])

    def test_figure_show_method(self):
        run = self.assert_ok(
            "import matplotlib.pyplot as plt\nfig = plt.figure()\nfig.add_subplot().plot([1])\nfig.show()\nprint('end')"
        )
        self.assertEqual(run.kinds, ["display", "stdout", "done"])

    def test_backend_chosen_by_the_cell(self):
        run = self.assert_ok(
            "import matplotlib\nmatplotlib.use('Agg')\nimport matplotlib.pyplot as plt\nplt.plot([1])\nplt.show()"
        )
        self.assertEqual(run.kinds, ["display", "done"])
        self.assertEqual(self.assert_ok("%matplotlib inline").kinds, ["done"])
        self.assertEqual(self.assert_ok("plt.plot([1]);").kinds, ["display", "done"])

    def test_retina_setting(self):
        self.assert_ok("%config InlineBackend.figure_format = 'retina'")
        run = self.assert_ok("import matplotlib.pyplot as plt\nplt.plot([1]);")
        width = struct.unpack(">I", base64.b64decode(run.displays[0]["image/png"])[16:20])[0]
        self.assertGreater(width, 900)

    def test_figure_survives_an_error(self):
        run = self.run_cell("import matplotlib.pyplot as plt\nplt.plot([1])\n1/0")
        self.assertEqual(run.kinds, ["display", "error", "done"])

    def test_empty_and_closed_figures(self):
        self.assertEqual(self.assert_ok("import matplotlib.pyplot as plt\nplt.plot([1])\nplt.close()").kinds, ["done"])

    def test_figure_that_cannot_be_drawn(self):
        run = self.assert_ok("import matplotlib.pyplot as plt\nplt.title('$\\\\broken$')\nplt.plot([1])\nprint('x')")
        self.assertIn("x\n", run.stdout)
        self.assertNotEqual(run.stderr, "")
        self.assertEqual(self.assert_ok("1").kinds, ["result", "done"])

    def test_capture_takes_figures(self):
        run = self.assert_ok("%%capture\nimport matplotlib.pyplot as plt\nplt.plot([1])\nprint('x')")
        self.assertEqual(run.kinds, ["done"])

    def test_pandas_and_seaborn(self):
        run = self.assert_ok("import pandas as pd\npd.Series([1, 2, 3]).plot()", 60)
        self.assertIn("display", run.kinds)
        self.assertIn("image/png", run.displays[-1])
        run = self.assert_ok("import seaborn as sns\nsns.scatterplot(x=[1, 2], y=[2, 1]);", 60)
        self.assertEqual(run.kinds, ["display", "done"])


if __name__ == "__main__":
    unittest.main()
