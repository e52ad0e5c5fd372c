"""Where IPython hands over what a cell shows: the value of its last expression, and calls of `display()`."""

from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher


class KernelDisplayHook(DisplayHook):
    """Shows the value of a cell's last expression."""

    def quiet(self):
        history = self.shell.history_manager.input_hist_parsed
        # Looking for a final `;` means to tokenize the cell; most cells have none at all.
        return bool(history) and ";" in history[-1] and super().quiet()

    def write_output_prompt(self):
        """A frame says by its kind that it is a result; there is no prompt to write."""

    def write_format_data(self, format_dict, md_dict=None):
        self.shell.publish_result(format_dict)

    def log_output(self, format_dict):
        """Keeps the text for `%history -o` only; pictures would stay in memory for ever."""
        if "text/plain" in format_dict:
            self.shell.history_manager.output_hist_reprs[self.prompt_count] = format_dict["text/plain"]

    def finish_displayhook(self):
        self._is_active = False


class KernelDisplayPublisher(DisplayPublisher):
    """Sends what `display()` shows. An updated display is shown again: what has gone out cannot be taken back."""

    def publish(self, data, metadata=None, source=None, *, transient=None, update=False, **kwargs):
        self.shell.publish_display(data)

    def clear_output(self, wait=False):
        """Does nothing: what has gone out cannot be taken back, and a log must not lose lines."""

    def _setup_execution_tracking(self):
        """IPython files every display by cell here; nothing reads that in this kernel."""
