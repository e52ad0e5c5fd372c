"""The settings that notebooks make with `%config InlineBackend.…`, taken without loading matplotlib for them."""

from IPython.core.pylabtools import select_figure_formats
from traitlets import Bool, Dict, Set, Unicode, observe
from traitlets.config import Configurable


class InlineBackend(Configurable):
    """Has the name and the settings of matplotlib-inline's own object; that one imports matplotlib with it."""

    figure_formats = Set({"png"}, help="The forms of a figure: 'png', 'retina', 'jpeg', 'svg', 'pdf'.").tag(config=True)
    figure_format = Unicode("png", help="One form of a figure, instead of several.").tag(config=True)
    print_figure_kwargs = Dict({"bbox_inches": "tight"}, help="How a figure is drawn.").tag(config=True)
    rc = Dict({}, help="Settings for `matplotlib.rcParams`.").tag(config=True)
    close_figures = Bool(True, help="Figures are always closed at the end of a cell.").tag(config=True)

    @observe("figure_format")
    def _one_form(self, change):
        self.figure_formats = {change["new"]}

    @observe("figure_formats", "print_figure_kwargs")
    def _use_forms(self, change):
        select_figure_formats(self.parent, self.figure_formats, **self.print_figure_kwargs)

    @observe("rc")
    def _use_rc(self, change):
        import matplotlib

        matplotlib.rcParams.update(change["new"])
