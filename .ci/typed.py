"""What somebody writes who uses this package, for a type checker. It is read, and never run:

    mypy --config-file .ci/mypy.ini .ci/typed.py

`assert_type` says what the checker must have found out: a public name that has lost its types is an error here.
"""
from collections.abc import Iterator
from typing import assert_type

from specdec_nb import AdaptiveGamma, AutoregressiveDecoder, ChainDrafter, Diagnosis, Event, Generation, NGramDrafter
from specdec_nb import PromptLookupDrafter, SamplingParams, SpeculativeDecoder, Stats, Trace, acceptance_rate, benchmark
from specdec_nb import check_exact, check_model, diagnose, load_pair, open_pair, show_trace
from specdec_nb.proof import ExactnessReport
from specdec_nb.timing import Benchmark

target, drafter, tokenizer = load_pair()
other, small, words = open_pair("folder/large", "folder/small")
decoder = SpeculativeDecoder(target, drafter, tokenizer=tokenizer, gamma=4)
adaptive = SpeculativeDecoder(other, small, tokenizer=words, gamma=AdaptiveGamma())
copying = SpeculativeDecoder(target, ChainDrafter(PromptLookupDrafter(), NGramDrafter([1, 2, 3])), gamma=3)
plain = AutoregressiveDecoder(target, tokenizer=tokenizer)

out = decoder.generate(["one", "two"], max_new_tokens=8, temperature=[0.0, 0.8], seed=[1, 2])
params = SamplingParams(temperature=0.7, top_p=0.9)
assert_type(out, Generation)
assert_type(plain.generate("one", params, stop=["."]), Generation)
assert_type(out.sequences, list[list[int]])
assert_type(out.text, list[str] | None)
assert_type(out.logprobs, list[list[float]])
assert_type(out.stats, Stats)
assert_type(out.stats.tokens_per_round, float)
assert_type(out.trace, Trace)
assert_type(decoder.stream("one"), Iterator[Event])
for event in decoder.stream("one"): assert_type(event.text, str)

assert_type(check_exact(decoder, "one", n=500), ExactnessReport)
assert_type(benchmark({"plain": plain, "ours": decoder}, ["one"]), Benchmark)
found = diagnose(decoder, ["one"])
assert_type(found, Diagnosis)
assert_type(found.to_json(), str)
show_trace(out.trace, tokenizer)
check_model(target)

decoder.generate(["one"], stop_when=3)       # type: ignore[arg-type]
out.sequence                                 # type: ignore[attr-defined]
SamplingParams(temperature="warm")           # type: ignore[arg-type]
