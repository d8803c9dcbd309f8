"""Speculative decoding: a small model drafts, a large one checks, and the text follows the large one's law.

The public names are looked up when they are first used, so `import specdec_nb` costs nothing, and the modules that
need only NumPy work without torch.
"""
__version__ = "0.1.0"

from importlib import import_module as _import_module
from typing import TYPE_CHECKING

_PUBLIC = {  # module -> the names it lends to the package
    "pages": "",
    "reference": "residual speculative_step speculative_generate autoregressive_generate",
    "exactness": "enumerate_law chisquare_law",
    "theory": "acceptance_rate expected_tokens alpha_from_tokens speedup operations best_gamma",
    "sampling": "probabilities verify",
    "anatomy": "",
    "cache": "RowCache CachedModel cached_model",
    "text": "Event",
    "llama_step": "LlamaStep",
    "models": "load_pair open_pair train_pair",
    "drafters": "Draft Drafter ModelDrafter check_drafter",
    "lookup": "NGramDrafter PromptLookupDrafter SuffixDrafter ChainDrafter EarlyExitDrafter AdaptiveGamma",
    "trace": "Trace Stats show_trace",
    "request": "SamplingParams Generation",
    "processors": "",
    "decoding": "SpeculativeDecoder AutoregressiveDecoder",
    "trees": "",
    "graphs": "",
    "proof": "check_exact",
    "timing": "benchmark diagnose Diagnosis",
    "rules": "block_rule gumbel_rule",
    "kernels": "",
    "compiled": "",
    "t5": "load_t5_pair train_t5_pair t5_row t5_table",
    "variants": "LenientDecoder lenient_law",
    "cli": "",
    "generate": "",
    "admission": "",
    "any_model": "check_model ModelReport",
    "encoder": "",
    "medusa": "MedusaDrafter MedusaHeads load_medusa train_medusa likely_tree",
}
_HOME = {name: module for module, names in _PUBLIC.items() for name in names.split()}
__all__ = list(_HOME)

if TYPE_CHECKING:  # for editors and type checkers: the same names
    from .reference import residual, speculative_step, speculative_generate, autoregressive_generate
    from .exactness import enumerate_law, chisquare_law
    from .theory import acceptance_rate, expected_tokens, alpha_from_tokens, speedup, operations, best_gamma
    from .sampling import probabilities, verify
    from .cache import RowCache, CachedModel, cached_model
    from .text import Event
    from .llama_step import LlamaStep
    from .models import load_pair, open_pair, train_pair
    from .drafters import Draft, Drafter, ModelDrafter, check_drafter
    from .lookup import NGramDrafter, PromptLookupDrafter, SuffixDrafter, ChainDrafter, EarlyExitDrafter
    from .lookup import AdaptiveGamma
    from .trace import Trace, Stats, show_trace
    from .request import SamplingParams, Generation
    from .decoding import SpeculativeDecoder, AutoregressiveDecoder
    from .proof import check_exact
    from .timing import benchmark, diagnose, Diagnosis
    from .t5 import load_t5_pair, train_t5_pair, t5_row, t5_table
    from .variants import LenientDecoder, lenient_law
    from .any_model import check_model, ModelReport
    from .rules import block_rule, gumbel_rule
    from .medusa import MedusaDrafter, MedusaHeads, load_medusa, train_medusa, likely_tree

_COMPLETED_BY = {"admission": ["any_model"], "rules": ["rules"]}  # a table that later modules add to when they are imported -> those modules


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
