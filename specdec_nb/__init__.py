"""Speculative decoding: a small model drafts, a large one checks, and the text follows the large one's law.

The public names are looked up when they are first used, so `import specdec_nb` costs nothing, and the modules that
need only NumPy work without torch.
"""
__version__ = "0.1.0"

from importlib import import_module as _import_module

_PUBLIC = {  # module -> the names it lends to the package
    "reference": "residual speculative_step speculative_generate autoregressive_generate",
    "exactness": "enumerate_law chisquare_law",
    "theory": "acceptance_rate expected_tokens alpha_from_tokens speedup operations best_gamma",
    "sampling": "SamplingParams probabilities verify",
    "cache": "RowCache CachedModel",
    "llama_step": "LlamaStep cached_model",
    "models": "load_pair open_pair train_pair",
    "drafters": "Drafter ModelDrafter NGramDrafter PromptLookupDrafter SuffixDrafter ChainDrafter EarlyExitDrafter AdaptiveGamma check_drafter",
    "trace": "Trace show_trace",
    "request": "Generation",
    "processors": "",
    "decoding": "SpeculativeDecoder AutoregressiveDecoder",
    "trees": "",
    "graphs": "",
    "proof": "check_exact",
    "benchmark": "diagnose Diagnosis",
    "t5": "load_t5_pair train_t5_pair t5_row t5_table",
    "variants": "LenientDecoder lenient_law",
    "cli": "",
    "generate": "",
    "any_model": "check_model ModelReport",
    "medusa": "MedusaDrafter MedusaHeads load_medusa train_medusa likely_tree",
}
_HOME = {name: module for module, names in _PUBLIC.items() for name in names.split()}
__all__ = list(_HOME)

_COMPLETED_BY = {"admission": ["any_model"]}  # a table that later modules add to when they are imported -> those modules


def _complete(table):
    "Import the modules that add to a table; an earlier module asks this when it needs the whole table"
    for module in _COMPLETED_BY[table]: _import_module(f"{__name__}.{module}")



def __getattr__(name):
    "Import the module that defines `name`, and remember what was found (PEP 562)"
    if name in _HOME:
        value = getattr(_import_module(f"{__name__}.{_HOME[name]}"), name)
    elif name in _PUBLIC:
        value = _import_module(f"{__name__}.{name}")
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}; {__name__}.__all__ lists what it has")
    globals()[name] = value
    return value


def __dir__():
    return sorted({*globals(), *_HOME, *_PUBLIC})
