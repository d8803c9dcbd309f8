"""Each notebook in this folder is one test: it runs as `nbdev_test` runs it, and must print what it has stored.

    pytest nbs                           run every page, compare its text outputs with the stored ones
    pytest nbs/01_reference.ipynb        one page
    pytest nbs --flags "slow hub"        also run the cells that are flagged `slow` or `hub`
    pytest nbs --update                  store the new outputs instead of comparing them
"""
import os
import re
import sys
import traceback
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from configparser import ConfigParser
from copy import deepcopy
from difflib import unified_diff
from multiprocessing import get_context
from pathlib import Path

import pytest
from execnb.nbio import read_nb, write_nb
from execnb.shell import CaptureShell
from nbdev.clean import clean_nb
from nbdev.frontmatter import FrontmatterProc
from nbdev.process import NBProcessor

ROOT = Path(__file__).resolve().parent.parent
ENV = {"IN_TEST": "1", "COLUMNS": "80", "TRANSFORMERS_VERBOSITY": "error", "TOKENIZERS_PARALLELISM": "false"}

SETTINGS = ConfigParser(delimiters=["="])
SETTINGS.read(ROOT / "settings.ini", encoding="utf-8")
SETTINGS = {name: value.split() for name, value in SETTINGS["DEFAULT"].items()}
FLAGS = SETTINGS["tst_flags"]


# pytest's side: options, collection, and the report of a failure

def pytest_addoption(parser):
    group = parser.getgroup("notebooks")
    group.addoption("--flags", default="", help=f"run the cells with these flags too, of: {' '.join(FLAGS)}")
    group.addoption("--update", action="store_true", help="store the new outputs in the notebooks")


def pytest_configure(config):
    unknown = set(config.getoption("flags", "").split()) - set(FLAGS)
    if unknown: raise pytest.UsageError(f"--flags: unknown {' '.join(sorted(unknown))}; settings.ini has {' '.join(FLAGS)}")


def pytest_collect_file(file_path, parent):
    if file_path.suffix == ".ipynb" and file_path.name[0] not in "_.":
        return NotebookFile.from_parent(parent, path=file_path)


class NotebookFile(pytest.File):
    "A notebook, which holds one test"
    def collect(self):
        yield NotebookTest.from_parent(self, name=self.path.stem)


class NotebookFailure(Exception):
    "A cell raised, or its output is not the stored one"


class NotebookTest(pytest.Item):
    "Run the notebook in a process of its own, so that nothing leaks from one page into the next"
    def runtest(self):
        flags, update = self.config.getoption("flags", "").split(), self.config.getoption("update", False)
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            try: problem = pool.submit(check, self.path, flags, update).result()
            except BrokenProcessPool: problem = f"{self.path.name}: the process that ran it died"
        if problem: raise NotebookFailure(problem)

    def repr_failure(self, excinfo):
        if excinfo.errisinstance(NotebookFailure): return str(excinfo.value)
        return super().repr_failure(excinfo)

    def reportinfo(self): return self.path, None, self.name


# The notebook's side, in its own process

def check(path, flags, update):
    "Run the notebook; return what is wrong with it, or None"
    os.environ.update(ENV, HF_HUB_OFFLINE="0" if "hub" in flags else "1")
    os.chdir(path.parent)
    sys.path.insert(0, str(ROOT))
    stored, fresh = read_nb(path), read_nb(path)
    error = run(fresh, path, set(FLAGS) - set(flags))
    if error: return error
    clean_nb(fresh, allowed_metadata_keys=SETTINGS["allowed_metadata_keys"],
             allowed_cell_metadata_keys=SETTINGS["allowed_cell_metadata_keys"])
    if update: write_nb(fresh, path)
    else: return "\n".join(differences(path.name, stored, fresh)) or None


def run(nb, path, skip_flags):
    "Give each cell that runs its new outputs, skip what `nbdev_test` skips; return the first error, or None"
    processed = NBProcessor(nb=deepcopy(nb), procs=FrontmatterProc, process=True).nb  # cells without their directives
    if str(processed.frontmatter_.get("skip_exec", "")).lower() == "true": return
    cells, shell = {cell.id: cell for cell in nb.cells}, CaptureShell(path, mpl_format="png")
    for cell in processed.cells:
        if skipped(cell, skip_flags): continue
        cells[cell.id].outputs = list(shell.run(cell.source))
        if shell.exc: return where(path.name, cells[cell.id]) + "\n\n" + readable(shell.exc)


def skipped(cell, skip_flags):
    "Whether `nbdev_test` would skip this cell"
    directives = cell.get("directives_", {})
    no_eval = directives.get("eval:", [""])[0].lower() == "false"
    return cell.cell_type != "code" or "nbdev_export()" in cell.source or no_eval or skip_flags & directives.keys()


def differences(name, stored, fresh):
    "A unified diff for each cell whose outputs are not the stored ones"
    for old, new in zip(stored.cells, fresh.cells):
        if (a := text(old)) == (b := text(new)): continue
        yield where(name, new) + ": the output is not the stored one (`--update` stores the new one)"
        yield "\n".join(unified_diff(a, b, "stored", "this run", n=2, lineterm="")) + "\n"


def text(cell):
    "A cell's outputs as lines to compare: text as it is, of pictures and other data only that they are there"
    lines = []
    for out in cell.get("outputs", []):
        data = out.get("data") or {out.get("name", out["output_type"]): out.get("text", "")}
        for kind, value in sorted(data.items()):
            lines.append(f"[{kind}]")
            if kind.startswith("text/") or out["output_type"] == "stream": lines += "".join(value).splitlines()
    return lines


def where(name, cell):
    "Name a cell by its number, from 1, and its first line of code"
    lines = [line for line in cell.source.splitlines() if line.strip() and not line.startswith("#|")]
    return f"{name}, cell {cell.idx_ + 1}, `{lines[0][:80] if lines else ''}`"


def readable(exc):
    "The traceback from the cell on, without the frames of the shell that ran it"
    tb = exc.__traceback__
    while tb and "IPython" in tb.tb_frame.f_code.co_filename: tb = tb.tb_next
    return re.sub(r"<ipython-input-[\w-]+>", "cell", "".join(traceback.format_exception(type(exc), exc, tb)))
