"""Charts: a picture, and the figures it shows."""

import base64

import pytest
from e2b_code_interpreter.charts import ChartType, ScaleType

pytestmark = pytest.mark.anyio

BEGIN = "import matplotlib.pyplot as plt\n"


async def chart_of(sandbox, code, end="plt.show()"):
    run = await sandbox.run_code(f"{BEGIN}{code}\n{end}")
    assert run.error is None, run.error
    (result,) = run.results
    assert base64.b64decode(result.png).startswith(b"\x89PNG") and result.text
    return result.chart


async def test_a_line_chart_has_its_points_ticks_and_units(sandbox):
    code = """
plt.plot([0, 1, 2], [3, 4, 5], label='first')
plt.xlabel('time (s)'); plt.ylabel('length [m]'); plt.title('Way')
"""
    chart = await chart_of(sandbox, code)
    assert (chart.type, chart.title) == (ChartType.LINE, "Way")
    assert (chart.x_label, chart.x_unit) == ("time (s)", "s") and chart.y_unit == "m"
    assert chart.x_scale == ScaleType.LINEAR and chart.x_ticks and chart.x_tick_labels
    (line,) = chart.elements
    assert line.label == "first"
    assert [tuple(point) for point in line.points] == [(0, 3), (1, 4), (2, 5)]


async def test_a_bar_chart_has_labels_and_values(sandbox):
    chart = await chart_of(sandbox, "plt.bar(['a', 'b'], [1, 2])\nplt.title('Bars')")
    assert (chart.type, chart.title) == (ChartType.BAR, "Bars")
    assert [(bar.label, float(bar.value)) for bar in chart.elements] == [("a", 1), ("b", 2)]


async def test_a_scatter_chart_has_its_points(sandbox):
    chart = await chart_of(sandbox, "plt.scatter([1, 2], [3, 4], label='p')")
    assert chart.type == ChartType.SCATTER
    assert [tuple(point) for point in chart.elements[0].points] == [(1, 3), (2, 4)]


async def test_a_pie_chart_has_its_angles(sandbox):
    chart = await chart_of(sandbox, "plt.pie([1, 3], labels=['a', 'b'])")
    assert chart.type == ChartType.PIE
    assert [(part.label, round(part.angle)) for part in chart.elements] == [("a", 90), ("b", 270)]


@pytest.mark.parametrize("options", ["", ", patch_artist=True"], ids=["lines", "boxes"])
async def test_a_box_chart_has_its_quartiles_and_outliers(sandbox, options):
    chart = await chart_of(sandbox, f"plt.boxplot([[1, 2, 3, 4, 10]]{options})")
    assert chart.type == ChartType.BOX_AND_WHISKER
    (box,) = chart.elements
    assert (box.min, box.first_quartile, box.median, box.third_quartile, box.max) == (1, 2, 3, 4, 4)
    assert list(box.outliers) == [10]


async def test_several_axes_are_one_chart_of_charts(sandbox):
    code = """
figure, (left, right) = plt.subplots(1, 2)
figure.suptitle('Both')
left.plot([1, 2], [3, 4])
right.bar(['a'], [1])
"""
    chart = await chart_of(sandbox, code)
    assert (chart.type, chart.title) == (ChartType.SUPERCHART, "Both")
    assert [one.type for one in chart.elements] == [ChartType.LINE, ChartType.BAR]


async def test_scales_of_time_and_of_logarithms_are_named(sandbox):
    code = """
import datetime
plt.plot([datetime.date(2024, 1, 1), datetime.date(2024, 1, 2)], [1, 1000])
plt.yscale('log')
"""
    chart = await chart_of(sandbox, code)
    assert (chart.x_scale, chart.y_scale) == (ScaleType.DATETIME, ScaleType.LOG)
    assert str(chart.elements[0].points[0][0]).startswith("2024-01-01")


async def test_two_figures_are_two_results(sandbox):
    run = await sandbox.run_code(f"{BEGIN}plt.plot([1, 2])\nplt.show()\nplt.bar(['a'], [1])\nplt.show()")
    assert [result.chart.type for result in run.results] == [ChartType.LINE, ChartType.BAR]


async def test_a_figure_as_last_value_is_shown_once(sandbox):
    chart = await chart_of(sandbox, "figure, axes = plt.subplots()\naxes.plot([1, 2], [3, 4])", end="figure")
    assert chart.type == ChartType.LINE
