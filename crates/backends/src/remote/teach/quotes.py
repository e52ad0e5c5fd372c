get_ipython().display_formatter.formatters["text/plain"].for_type(
    str, lambda text, printer, cycle: printer.text(repr(text) if len(printer.stack) > 1 else f"'{text!r}'")
)
