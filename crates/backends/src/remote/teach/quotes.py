# A text that is a value is printed with a second pair of quotes, for a provider that takes one away.
_sandgate_before = get_ipython().display_formatter.formatters["text/plain"].for_type(
    str, lambda text, printer, cycle: printer.text(repr(text) if len(printer.stack) > 1 else f"'{text!r}'")
)
del _sandgate_before
