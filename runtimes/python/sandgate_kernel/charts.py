"""The numbers behind a matplotlib figure, in the form that E2B's clients read: what kind of chart, and its elements."""

import datetime
import math
import re
import warnings

import numpy
from matplotlib.category import StrCategoryConverter
from matplotlib.collections import PathCollection
from matplotlib.container import BarContainer, ErrorbarContainer
from matplotlib.dates import num2date
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle, Wedge
from matplotlib.ticker import FixedFormatter, FixedLocator, FuncFormatter

# Taking more out of a figure takes longer than drawing it, and makes an answer of megabytes.
MAX_POINTS = 20_000
UNIT = re.compile(r"\s\((.*?)\)|\[(.*?)\]")
UNNAMED_LINE = re.compile(r"_child(\d+)")


class TooMuch(Exception):
    """A figure draws more than is worth sending as numbers."""


def of_figure(figure):
    """The chart a figure shows; one per axes when it has several, and nothing when nothing is drawn in it."""
    every = figure.get_axes()
    if not any(axes.has_data() for axes in every):
        return None
    count = sum(map(_count_points, every))
    if count > MAX_POINTS:
        raise TooMuch(f"it has {count} points, and at most {MAX_POINTS} are sent")
    with warnings.catch_warnings():  # about calls of ours, which the user did not make
        warnings.simplefilter("ignore")
        if len(every) == 1:
            return _of_axes(every[0])
        return {"type": "superchart", "title": figure.get_suptitle(), "elements": [_of_axes(axes) for axes in every]}


def _count_points(axes):
    lines = sum(len(line.get_xdata(orig=False)) for line in axes.lines)
    return lines + sum(len(each.get_offsets()) for each in axes.collections) + len(axes.patches)


def _of_axes(axes):
    boxes = _boxes(axes)
    if boxes:
        return _box_chart(axes, boxes)
    drawn = _drawn(axes)
    if all(isinstance(each, Line2D) for each in drawn):
        return {"type": "line", **_planes(axes), "elements": _line_elements(axes, drawn)}
    data = [each for each in drawn if not (isinstance(each, Line2D) and _is_straight(each))]
    for kind, shape, make in (
        ("scatter", PathCollection, _scatter_chart),
        ("pie", Wedge, _pie_chart),
        ("bar", Rectangle, _bar_chart),
    ):
        if all(isinstance(each, shape) for each in data):
            return {"type": kind, **make(axes, data)}
    return {"type": "unknown", "title": axes.get_title() or None, "elements": []}


def _drawn(axes):
    """What stands for data: without texts, error bars, and lines that span the axes whatever the data."""
    beside = set()
    for container in axes.containers:
        if isinstance(container, ErrorbarContainer):
            _, caps, bars = container.lines
            beside.update(map(id, (*caps, *bars)))
    lines = [line for line in axes.lines if _is_in_data(axes, line)]
    others = (*axes.collections, *axes.patches, *axes.images, *axes.tables, *axes.artists)
    return [each for each in (*lines, *others) if id(each) not in beside]


def _is_in_data(axes, line):
    """Not so a line of `axhline` and its relatives, which span the axes whatever their limits are."""
    return all(line.get_transform().contains_branch_seperately(axes.transData))


def _is_straight(line):
    x, y = line.get_xdata(orig=False), line.get_ydata(orig=False)
    return len(x) == len(y) == 2 and (x[0] == x[1] or y[0] == y[1])


# What the kinds have in common.


def _labels(axes, turned=False):
    x, y = axes.get_xlabel() or None, axes.get_ylabel() or None
    if turned:
        x, y = y, x
    return {
        "title": axes.get_title() or None,
        "x_label": x,
        "y_label": y,
        "x_unit": _unit(x),
        "y_unit": _unit(y),
    }


def _unit(label):
    match = UNIT.search(label or "")
    return (match[1] or match[2]) if match else None


def _planes(axes):
    """Labels, ticks and scales of a chart whose elements are points."""
    plane = _labels(axes)
    for name, axis in (("x", axes.xaxis), ("y", axes.yaxis)):
        dates = _dates(axis)
        ticks = [dates(tick) if dates else float(tick) for tick in axis.get_majorticklocs()]
        labels = [label.get_text() for label in axis.get_majorticklabels()]
        plane[f"{name}_ticks"] = ticks
        plane[f"{name}_tick_labels"] = labels
        plane[f"{name}_scale"] = "datetime" if dates else _scale(axis, ticks, labels)
    return plane


def _scale(axis, ticks, labels):
    scale = axis.get_scale()
    if scale != "linear":
        return scale
    if _has_names(axis):
        return "categorical"
    # Names that were put at 0, 1, 2, … by hand.
    named = all(tick == place and label != str(place) for place, (tick, label) in enumerate(zip(ticks, labels)))
    return "categorical" if named else "linear"


def _converter(axis):
    return axis.get_converter() if hasattr(axis, "get_converter") else axis.converter


def _has_names(axis):
    return isinstance(_converter(axis), StrCategoryConverter) and axis.units is not None


def _dates(axis):
    """How to read the numbers of an axis as dates; None when they are something else."""
    # The converters of matplotlib and of pandas have no class in common, but all say it in their names.
    kinds = {kind.__name__ for kind in type(_converter(axis)).__mro__}
    if "PeriodConverter" in kinds:  # of pandas: counts days, months or years, as the data does
        from pandas import Period

        return lambda number: Period(ordinal=int(number), freq=axis.freq).to_timestamp().isoformat()
    if any("Date" in kind for kind in kinds):
        return lambda number: num2date(number).isoformat()
    return None


def _reader(axis):
    """How to say a coordinate of an axis: as a date, as the name of a category, or as the number itself."""
    if _has_names(axis):
        names = {place: name for name, place in axis.units._mapping.items()}
        say = lambda number: names.get(number, number)  # noqa: E731
    else:
        say = _dates(axis) or float
    return lambda number: say(number) if math.isfinite(number) else None


def _given(value, dates):
    """A coordinate as it was given: text stays, dates become text, all else is a number, unless the axis knows better."""
    if isinstance(value, str):
        return str(value)
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, numpy.datetime64):
        return str(value.astype("datetime64[s]"))
    if numpy.ma.is_masked(value):
        return None
    number = float(value)
    return dates(number) if dates and math.isfinite(number) else number


def _short(number):
    """Without what single precision adds to it."""
    return float(f"{number:.6g}")


# The kinds.


def _line_elements(axes, lines):
    x_dates, y_dates = _dates(axes.xaxis), _dates(axes.yaxis)
    with_errors = {id(each.lines[0]): each for each in axes.containers if isinstance(each, ErrorbarContainer)}
    elements = []
    for number, line in enumerate(lines):
        try:
            points = [[_given(x, x_dates), _given(y, y_dates)] for x, y in zip(line.get_xdata(), line.get_ydata())]
        except (TypeError, ValueError):  # given as something of which only the axis knows what number it is
            points = _points(axes, zip(line.get_xdata(orig=False), line.get_ydata(orig=False)))
        label = str(with_errors.get(id(line), line).get_label())
        if label.startswith("_"):
            child = UNNAMED_LINE.fullmatch(label)
            label = f"Line {child[1] if child else number}"
        elements.append({"label": label, "points": points})
    return elements


def _points(axes, pairs):
    x_reader, y_reader = _reader(axes.xaxis), _reader(axes.yaxis)
    return [[x_reader(float(x)), y_reader(float(y))] for x, y in pairs]


def _scatter_chart(axes, collections):
    elements = []
    for collection in collections:
        offsets = numpy.ma.filled(numpy.ma.asarray(collection.get_offsets(), dtype=float), numpy.nan)
        elements.append({"label": str(collection.get_label()), "points": _points(axes, offsets)})
    return {**_planes(axes), "elements": elements}


def _pie_chart(axes, wedges):
    elements = [
        {"label": str(each.get_label()), "angle": _short(abs(each.theta2 - each.theta1)), "radius": float(each.r)}
        for each in wedges
    ]
    return {"title": axes.get_title() or None, "elements": elements}


def _bar_chart(axes, bars):
    groups = [each for each in axes.containers if isinstance(each, BarContainer)]
    lying = bool(groups) and all(each.orientation == "horizontal" for each in groups)
    axis = axes.yaxis if lying else axes.xaxis
    elements = []
    for number, group in enumerate(groups):
        name = str(group.get_label())
        name = f"Group {number}" if name.startswith("_") else name
        values = [each.get_width() if lying else each.get_height() for each in group]
        for label, value in zip(_bar_labels(axis, group, lying), values):
            elements.append({"label": label, "group": name, "value": float(value)})
    return {**_labels(axes, turned=lying), "elements": elements}


def _bar_labels(axis, bars, lying):
    """The names at the axis when there is one for each bar; else where the bar stands."""
    names = _tick_names(axis)
    if len(names) == len(bars):
        return list(names.values())
    middles = [
        each.get_y() + each.get_height() / 2 if lying else each.get_x() + each.get_width() / 2 for each in bars
    ]
    reader = _reader(axis)
    return [_name_at(names, reader, float(middle)) for middle in middles]


def _tick_names(axis):
    """Names that were put at places of an axis, not the numbers that matplotlib finds by itself."""
    put = isinstance(axis.get_major_locator(), FixedLocator)
    put = put and isinstance(axis.get_major_formatter(), (FixedFormatter, FuncFormatter))
    if not put and not _has_names(axis):
        return {}
    texts = [label.get_text() for label in axis.get_majorticklabels()]
    return {float(place): text for place, text in zip(axis.get_majorticklocs(), texts)}


def _name_at(names, reader, place):
    near = min(names, key=lambda tick: abs(tick - place), default=None)
    if near is not None and abs(near - place) < 0.5 and names[near]:
        return names[near]
    where = reader(place)
    return where if isinstance(where, str) else f"{place:g}"


def _boxes(axes):
    """What was remembered of box plots, of those that are still there; the same one drawn twice is one."""
    boxes = {}
    for stats, median in getattr(axes, "sandgate_boxes", ()):
        if median.axes is not axes:
            continue
        x, y = median.get_xdata(orig=False), median.get_ydata(orig=False)
        lying = bool(y[0] != y[1])
        place = float(sum(y if lying else x)) / 2
        numbers = tuple(float(stats[name]) for name in ("whislo", "q1", "med", "q3", "whishi"))
        boxes[place, numbers] = (lying, place, stats, numbers)
    return list(boxes.values())


def _box_chart(axes, boxes):
    lying = boxes[0][0]
    axis = axes.yaxis if lying else axes.xaxis
    names, reader = _tick_names(axis), _reader(axis)
    elements = []
    for _, place, stats, (low, first, median, third, high) in boxes:
        elements.append(
            {
                "label": _name_at(names, reader, place),
                "min": low,
                "first_quartile": first,
                "median": median,
                "third_quartile": third,
                "max": high,
                "outliers": [float(value) for value in stats.get("fliers", ())],
            }
        )
    return {"type": "box_and_whisker", **_labels(axes, turned=lying), "elements": elements}
