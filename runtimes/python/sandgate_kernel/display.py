"""Makes the bundles that display and result frames carry: every form of a value, safe to write as JSON."""

import base64
import datetime
import enum
import math
import sys

from IPython.core.formatters import DisplayFormatter

CHART, TABLE = "e2b/chart", "e2b/data"
MAX_DISPLAY = 15 << 20
MAX_DEPTH = 60
MAX_NODES = 200_000
# Values of these types have one form only, so the ten other formatters need not be asked.
PLAIN_TYPES = frozenset((int, float, bool, complex, str, bytes, range))


class NotJson(Exception):
    """A value is too deep or too large for a JSON form that is only an extra beside its text."""


class KernelDisplayFormatter(DisplayFormatter):
    """IPython's formatter with a short way for numbers and text, and with data beside pictures for those who ask."""

    def format(self, obj, include=None, exclude=None):
        kind = type(obj)
        if kind in PLAIN_TYPES and not include and not exclude and not self._has_own_form(kind):
            return {"text/plain": self.formatters["text/plain"](obj)}, {}
        shell = self.parent
        shell.side_errors += 1
        try:
            data, metadata = super().format(obj, include=include, exclude=exclude)
            if data and not include:
                self._add_extras(obj, data)
        finally:
            shell.side_errors -= 1
        if exclude:
            data = {mime: value for mime, value in data.items() if mime not in exclude}
        return data, metadata

    def _has_own_form(self, kind):
        """Whether somebody has registered a rich form for one of the plain types."""
        if kind in self.mimebundle_formatter.type_printers or kind in self.ipython_display_formatter.type_printers:
            return True
        return any(kind in each.type_printers for mime, each in self.formatters.items() if mime != "text/plain")

    def _add_extras(self, obj, data):
        try:
            figure = sys.modules.get("matplotlib.figure")
            if figure is not None and isinstance(obj, figure.Figure):
                self.parent.figures.mark_shown(obj)
                if self.parent.chart_data:
                    add_chart(obj, data)
            elif self.parent.chart_data:
                add_data(obj, data)
        except Exception:
            pass  # An extra must never cost the display it stands beside.


def add_chart(figure, data):
    from . import charts  # not before somebody asks for it

    try:
        chart = charts.of_figure(figure)
    except charts.TooMuch as problem:
        tell_left_out(f"the data of this chart: {problem}")
    else:
        if chart:
            data[CHART] = to_plain(chart)


def add_data(value, data):
    if isinstance(value, (dict, list)):
        if "application/json" not in data:
            data["application/json"] = to_plain(value)
        return
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(value, pandas.DataFrame):
        if value.size > MAX_NODES:
            tell_left_out(f"the data of this table: it has {value.size} values, and at most {MAX_NODES} are sent")
        else:
            data[TABLE] = to_plain(value.to_dict(orient="list"))


def tell_left_out(what):
    print(f"[left out {what}]", file=sys.stderr)


def to_bundle(data):
    """A bundle whose values are text or plain JSON; what cannot be said in JSON is left out."""
    bundle = {}
    for mime, value in data.items():
        if isinstance(value, (bytes, bytearray, memoryview)):
            value = base64.b64encode(value).decode("ascii")
        elif type(value) is str:
            if mime.startswith("image/") and mime != "image/svg+xml":
                value = value.replace("\n", "")
        elif isinstance(value, str):
            value = str.__str__(value)
        else:
            try:
                value = to_plain(value)
            except Exception:
                continue
        bundle[str(mime)] = value
    return bundle


def to_plain(value):
    """A copy made only of what JSON knows: no infinities, no numbers that a reader would refuse, text keys."""
    budget = [MAX_NODES]
    return _plain(value, MAX_DEPTH, budget)


def _plain(value, depth, budget):
    kind = type(value)
    if kind is str or kind is bool or value is None:
        return value
    if kind is int:
        return value if -(1 << 63) <= value < 1 << 63 else str(value)
    if kind is float:
        return value if math.isfinite(value) else None
    budget[0] -= 1
    if not depth or budget[0] < 0:
        raise NotJson
    if isinstance(value, dict):
        return {_key(key): _plain(item, depth - 1, budget) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        budget[0] -= len(value)
        return [_plain(item, depth - 1, budget) for item in value]
    return _plain(_simpler(value), depth - 1, budget)


def _key(key):
    if isinstance(key, str):
        return str.__str__(key)
    return str(_simpler(key) if not isinstance(key, (int, float, tuple)) else key)


def _simpler(value):
    """One step towards JSON for the kinds of values that data libraries put into tables and charts."""
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, (datetime.datetime, datetime.date, datetime.time)):
        text = value.isoformat()
        return None if text == "NaT" else text
    if isinstance(value, (bytes, bytearray)):
        return base64.b64encode(value).decode("ascii")
    for base in (bool, int, float, str):
        if isinstance(value, base):
            return str.__str__(value) if base is str else base(value)
    if hasattr(value, "tolist"):  # numpy scalars and arrays
        simpler = value.tolist()
        if type(simpler) is not type(value):
            return simpler
    return str(value)
