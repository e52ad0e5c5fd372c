"""Shows matplotlib figures: at `plt.show()`, and at the end of a cell for those that are still open."""

import functools
import os
import sys

from .imports import steps


class Figures:
    """Knows which figures this cell has shown, so that none is shown twice."""

    def __init__(self, shell):
        self.shell = shell
        self.shown = set()
        self.hooked = False

    def attach(self):
        """Prepares for matplotlib, whether it is loaded already or a cell imports it later."""
        png = self.shell.display_formatter.formatters["image/png"]
        png.for_type_by_name("matplotlib.figure", "Figure", draw_png)
        jpeg = self.shell.display_formatter.formatters["image/jpeg"]
        jpeg.for_type_by_name("PIL.Image", "Image", lambda image: None)  # the PNG says it all
        steps.add("matplotlib.pyplot", after=self.hook_pyplot)
        steps.add("matplotlib.axes", after=remember_boxes)
        steps.add("PIL.Image", after=self.hook_image_save)
        steps.add("PIL.ImageShow", after=self.hook_image_show)
        steps.install()

    def hook_pyplot(self, module):
        from matplotlib.backend_bases import FigureManagerBase

        FigureManagerBase.show = lambda manager: self.show(manager)
        module.show = self.make_show()
        keep_old_labels(module)
        if not self.hooked:
            self.hooked = True
            self.shell.events.register("post_execute", self.end_of_cell)

    def hook_image_show(self, module):
        """`image.show()` would look for a program with a window; the picture goes into the output instead."""
        shell = self.shell

        class OutputViewer(module.Viewer):
            def show(self, image, **options):
                shell.show_value(image)
                return 1

        module.register(OutputViewer, order=0)

    def hook_image_save(self, module):
        """Where chart data is asked for, a picture that is saved to a file is shown as well."""
        shell, save = self.shell, module.Image.save

        @functools.wraps(save)
        def save_and_show(image, fp, *args, **options):
            save(image, fp, *args, **options)
            if shell.chart_data and isinstance(fp, (str, os.PathLike)):
                shell.show_value(image)

        module.Image.save = save_and_show

    def make_show(self):
        """What stands in for `pyplot.show`. A function, because matplotlib writes attributes onto it."""

        def show(*args, **kwargs):
            """Shows every open figure, in the order they were made."""
            for manager in open_managers():
                self.show(manager)

        return show

    def show(self, manager):
        figure = manager.canvas.figure
        try:
            if figure not in self.shown:
                self.shell.show_value(figure)
        finally:
            close(manager)

    def mark_shown(self, figure):
        self.shown.add(figure)

    def end_of_cell(self):
        managers = open_managers()
        try:
            for manager in managers:
                self.show(manager)
        finally:
            for manager in open_managers():  # only after an interrupt: the next cell must not start with them
                close(manager)
            self.shown.clear()


def remember_boxes(module):
    """Box plots keep their numbers: from the lines alone that are left of them, nobody could tell."""
    draw = module.Axes.bxp

    @functools.wraps(draw)
    def draw_and_remember(axes, bxpstats, *args, **options):
        bxpstats = list(bxpstats)
        drawn = draw(axes, bxpstats, *args, **options)
        axes.sandgate_boxes = [*getattr(axes, "sandgate_boxes", ()), *zip(bxpstats, drawn["medians"])]
        return drawn

    module.Axes.bxp = draw_and_remember
    keep_old_labels(module.Axes)


def keep_old_labels(owner):
    """Matplotlib 3.11 has dropped `labels` of box plots for `tick_labels`, and models still write the older name."""
    draw = owner.boxplot
    if sys.modules["matplotlib"].__version_info__ < (3, 11):
        return  # it takes the name, and says itself that it is to go

    @functools.wraps(draw)
    def draw_with_labels(*args, **options):
        if "labels" in options and "tick_labels" not in options:
            options["tick_labels"] = options.pop("labels")
        return draw(*args, **options)

    owner.boxplot = draw_with_labels


def open_managers():
    helpers = sys.modules.get("matplotlib._pylab_helpers")
    if helpers is None or not helpers.Gcf.figs:
        return ()
    return sorted(helpers.Gcf.figs.values(), key=lambda manager: manager.num)


def close(manager):
    sys.modules["matplotlib._pylab_helpers"].Gcf.destroy(manager)


def draw_png(figure):
    if not figure.axes and not figure.lines and not figure.texts and not figure.images and not figure.patches:
        return None
    from IPython.core.pylabtools import print_figure

    return print_figure(figure, fmt="png", bbox_inches="tight", base64=True)
