"""The data behind figures, tables and values, for those who ask for it: `chart_data` of an execution."""

import base64
import unittest

from harness import KernelTest

TABLE = (
    "import pandas as pd\n"
    "pd.DataFrame({'a': [1, 2], 'b': [0.5, None], 'd': pd.to_datetime(['2024-01-02', None]), 3: ['x', 'y']})"
)
SCORES = "{'A': [85, 90, 78, 92, 88], 'B': [95, 89, 76, 91, 84, 87], 'C': [75, 82, 88, 79, 86]}"


class ChartData(KernelTest):
    def setUp(self):
        super().setUp()
        self.assert_ok("import datetime\nimport numpy as np, matplotlib.pyplot as plt", 60)

    def asked(self, code, timeout=60):
        return self.assert_ok(code, timeout, chart_data=True)

    def chart(self, code):
        run = self.asked(code + "\nplt.show()")
        self.assertEqual(run.kinds, ["display", "done"], run.stderr)
        self.assertEqual(set(run.displays[0]), {"text/plain", "image/png", "e2b/chart"})
        return run.displays[0]["e2b/chart"]

    def test_only_for_those_who_ask(self):
        self.assertEqual(set(self.assert_ok("[1]").result), {"text/plain"})
        self.assertEqual(set(self.asked("[1]").result), {"text/plain", "application/json"})
        self.assertEqual(set(self.assert_ok("[1]").result), {"text/plain"})
        figure = self.assert_ok("plt.plot([1, 2]);")
        self.assertEqual(set(figure.displays[0]), {"text/plain", "image/png"})

    def test_json_beside_lists_and_dicts(self):
        for code, expected in (
            ("{'a': [1, 2.5, None, True], (1, 2): float('nan')}", {"a": [1, 2.5, None, True], "(1, 2)": None}),
            ("[10 ** 30]", [str(10**30)]),
            ("[np.int64(3), np.float32('nan'), np.arange(2)]", [3, None, [0, 1]]),
        ):
            self.assertEqual(self.asked(code).result["application/json"], expected)
        deep = self.asked("x = []\nfor i in range(100):\n    x = [x]\nx")
        self.assertNotIn("application/json", deep.result)
        self.assertNotIn("application/json", self.asked("x = []; x.append(x)\nx").result)

    def test_tables(self):
        run = self.asked(TABLE)
        self.assertIn("<table", run.result["text/html"])
        self.assertEqual(
            run.result["e2b/data"], {"a": [1, 2], "b": [0.5, None], "d": ["2024-01-02T00:00:00", None], "3": ["x", "y"]}
        )
        large = self.asked("pd.DataFrame({'a': range(300_000)})")
        self.assertNotIn("e2b/data", large.result)
        self.assertIn("left out the data of this table", large.stderr)

    def test_lines(self):
        chart = self.chart(
            "x = np.linspace(0, 6, 50)\nplt.plot(x, np.sin(x), label='sin(x)')\nplt.plot(x, np.cos(x))\n"
            "plt.xlabel('Time (s)')\nplt.ylabel('Height [m]')\nplt.title('Waves')\nplt.grid(True)\nplt.axhline(0)"
        )
        self.assertEqual((chart["type"], chart["title"]), ("line", "Waves"))
        self.assertEqual((chart["x_label"], chart["x_unit"], chart["y_unit"]), ("Time (s)", "s", "m"))
        self.assertEqual((chart["x_scale"], chart["y_scale"]), ("linear", "linear"))
        self.assertEqual([each["label"] for each in chart["elements"]], ["sin(x)", "Line 1"])
        self.assertEqual([len(each["points"]) for each in chart["elements"]], [50, 50])
        self.assertTrue(all(isinstance(tick, float) for tick in chart["x_ticks"]))
        self.assertTrue(all(isinstance(label, str) for label in chart["y_tick_labels"]))

    def test_scales(self):
        dates = self.chart("plt.plot([datetime.date(2023, 9, 1), datetime.date(2023, 9, 2)], [1, float('nan')])")
        self.assertEqual((dates["x_scale"], dates["y_scale"]), ("datetime", "linear"))
        self.assertEqual(dates["elements"][0]["points"], [["2023-09-01", 1], ["2023-09-02", None]])
        names = self.chart("plt.plot([1, 2, 3], ['A', 'B', 'C'])")
        self.assertEqual((names["x_scale"], names["y_scale"]), ("linear", "categorical"))
        self.assertEqual(names["elements"][0]["points"][0], [1, "A"])
        self.assertEqual(self.chart("plt.plot([1, 10, 100])\nplt.yscale('log')")["y_scale"], "log")
        days = self.chart("import pandas as pd\npd.Series([1, 2], index=pd.date_range('2024-01-01', periods=2)).plot()")
        self.assertEqual(days["x_scale"], "datetime")
        self.assertEqual(days["elements"][0]["points"][1], ["2024-01-02T00:00:00", 2])

    def test_scatter(self):
        chart = self.chart("plt.scatter([1, 2], [3, 4], label='first')\nplt.scatter([1], [5])\nplt.axvline(1.5)")
        self.assertEqual(chart["type"], "scatter")
        self.assertEqual([each["points"] for each in chart["elements"]], [[[1, 3], [2, 4]], [[1, 5]]])
        self.assertEqual(chart["elements"][0]["label"], "first")
        named = self.chart("plt.scatter(['a', 'b'], [1, 2])")
        self.assertEqual(named["elements"][0]["points"], [["a", 1], ["b", 2]])

    def test_bars(self):
        chart = self.chart("plt.bar(['A', 'B'], [100, 200])\nplt.xlabel('who')")
        self.assertEqual((chart["type"], chart["x_label"]), ("bar", "who"))
        expected = [{"label": "A", "group": "Group 0", "value": 100}, {"label": "B", "group": "Group 0", "value": 200}]
        self.assertEqual(chart["elements"], expected)
        self.assertEqual(self.chart("plt.bar(['A', 'B'], [100, 200], yerr=[1, 2], capsize=4)")["elements"], expected)
        lying = self.chart("plt.barh(['A', 'B'], [100, 200])\nplt.ylabel('who')")
        self.assertEqual((lying["elements"], lying["x_label"]), (expected, "who"))
        same = self.chart("plt.bar(['A', 'B'], [7, 7])")
        self.assertEqual([each["value"] for each in same["elements"]], [7, 7])
        groups = self.chart(
            "x = np.arange(2)\nplt.bar(x - .2, [1, 2], .4, label='m')\nplt.bar(x + .2, [3, 4], .4, label='f')\n"
            "plt.xticks(x, ['G1', 'G2'])\nplt.legend()"
        )
        self.assertEqual(
            [(each["group"], each["label"], each["value"]) for each in groups["elements"]],
            [("m", "G1", 1), ("m", "G2", 2), ("f", "G1", 3), ("f", "G2", 4)],
        )
        counts = self.chart("plt.hist([1, 2, 2, 3, 3, 3], bins=[0.5, 1.5, 2.5, 3.5])")
        self.assertEqual([(each["label"], each["value"]) for each in counts["elements"]], [("1", 1), ("2", 2), ("3", 3)])

    def test_pie(self):
        chart = self.chart("plt.pie([90, 10], labels=['No', 'No, in blue'], autopct='%1.1f%%', startangle=90)")
        self.assertEqual(
            (chart["type"], chart["elements"]),
            (
                "pie",
                [{"label": "No", "angle": 324, "radius": 1}, {"label": "No, in blue", "angle": 36, "radius": 1}],
            ),
        )

    def test_boxes(self):
        outside = {"min": 1, "first_quartile": 2, "median": 3, "third_quartile": 4, "max": 4, "outliers": [10]}
        for more, label in (("", "1"), (", patch_artist=True, tick_labels=['one']", "one"), (", labels=['old']", "old")):
            chart = self.chart(f"plt.boxplot([[1, 2, 3, 4, 10]]{more})")
            self.assertEqual((chart["type"], chart["elements"]), ("box_and_whisker", [{"label": label, **outside}]))
        twice = self.chart(
            f"scores = {SCORES}\nfig, ax = plt.subplots()\nax.set_xlabel('Class')\nax.set_ylabel('Score')\n"
            "for filled in (False, True):\n"
            "    ax.boxplot(scores.values(), tick_labels=scores.keys(), patch_artist=filled)\nplt.tight_layout()"
        )
        self.assertEqual([each["label"] for each in twice["elements"]], ["A", "B", "C"])
        self.assertEqual([each["outliers"] for each in twice["elements"]], [[], [76], []])
        self.assertEqual((twice["x_label"], twice["y_label"]), ("Class", "Score"))
        old = self.chart("fig, ax = plt.subplots()\nax.boxplot([[1, 2], [3, 4]], labels=['A', 'B'])")
        self.assertEqual([each["label"] for each in old["elements"]], ["A", "B"])
        both = self.run_cell("plt.boxplot([[1]], labels=['a'], tick_labels=['b'])")
        self.assertEqual(both.error["name"], "TypeError")
        cleared = self.chart("fig, ax = plt.subplots()\nax.boxplot([[1, 2, 3]])\nax.clear()\nax.plot([1, 2])")
        self.assertEqual(cleared["type"], "line")

    def test_several_in_one_figure(self):
        chart = self.chart(
            "fig, axs = plt.subplots(1, 2)\nfig.suptitle('Both')\naxs[0].plot([1, 2])\naxs[0].set_title('First')\n"
            "axs[1].scatter([1], [2])"
        )
        self.assertEqual((chart["type"], chart["title"]), ("superchart", "Both"))
        self.assertEqual([(each["type"], each["title"]) for each in chart["elements"]], [("line", "First"), ("scatter", None)])

    def test_what_is_no_chart(self):
        circle = self.chart("fig, ax = plt.subplots()\nax.add_artist(plt.Circle((0, 0), 1))\nplt.title('Round')")
        self.assertEqual(circle, {"type": "unknown", "title": "Round", "elements": []})
        empty = self.asked("fig, ax = plt.subplots()\nfig")
        self.assertEqual(set(empty.result), {"text/plain", "image/png"})

    def test_too_much(self):
        run = self.asked("plt.plot(range(50_000));")
        self.assertEqual(set(run.displays[0]), {"text/plain", "image/png"})
        self.assertIn("left out the data of this chart: it has 50000 points", run.stderr)

    def test_saved_pictures_are_shown(self):
        make = "from PIL import Image\nim = Image.fromarray((np.random.rand(16, 16, 3) * 255).astype('uint8'))\n"
        run = self.asked(make + "im.convert('RGBA').save('test.png')\nprint('Image saved.')")
        self.assertEqual(run.kinds, ["display", "stdout", "done"])
        self.assertTrue(base64.b64decode(run.displays[0]["image/png"]).startswith(b"\x89PNG"))
        self.assertEqual(self.assert_ok("im.save('other.png')").kinds, ["done"])
        self.assertEqual(self.asked("import io\nim.save(io.BytesIO(), 'png')").kinds, ["done"])
        failed = self.run_cell("im.save('/no/such/folder/x.png')", chart_data=True)
        self.assertEqual(failed.kinds, ["error", "done"])
        self.assertEqual(self.assert_ok("import glob\nsorted(glob.glob('*'))").text, "['other.png', 'test.png']")

    def test_pictures_shown_and_returned(self):
        make = "from PIL import Image\nim = Image.new('RGBA', (16, 16))\n"
        self.assertEqual(self.asked(make + "im.show()\nprint('shown')").kinds, ["display", "stdout", "done"])
        self.assertIn("image/png", self.asked("im").result)


if __name__ == "__main__":
    unittest.main()
