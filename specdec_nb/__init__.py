"""Speculative decoding: a small model drafts, the large one checks, the law stays the same.

The public names are resolved when they are first used, so importing the package costs nothing:
the NumPy pages run without torch, and torch without transformers' models.
"""
__version__ = "0.1.0"

from importlib import import_module as _import_module

_PUBLIC = {  # module -> the names it lends to the package
    "reference": "residual speculative_step speculative_generate autoregressive_generate",
    "exactness": "chisquare_law",
    "theory": "expected_tokens speedup best_gamma",
    "sampling": "SamplingParams verify",
    "cache": "RowCache CachedModel",
    "models": "load_pair",
    "drafters": "ModelDrafter",
    "trace": "Trace show_trace",
    "decoding": "SpeculativeDecoder AutoregressiveDecoder Generation",
}
_HOME = {name: module for module, names in _PUBLIC.items() for name in names.split()}
__all__ = sorted(_HOME)


def __getattr__(name):
    "Import the module that defines `name`, and remember what was found (PEP 562)"
    if name in _HOME:
        value = getattr(_import_module(f"{__name__}.{_HOME[name]}"), name)
    elif name in _PUBLIC:
        value = _import_module(f"{__name__}.{name}")
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}; see {__name__}.__all__ for its names")
    globals()[name] = value
    return value


def __dir__():
    return sorted({*globals(), *__all__, *_PUBLIC})
