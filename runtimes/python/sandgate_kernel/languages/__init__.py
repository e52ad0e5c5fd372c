"""Contexts in languages other than Python: this process stays as the engine's end, and the language's own tool runs beside it."""

from .serve import serve

__all__ = ["serve"]
