"""The book: its parts, and the pages of each in the order in which they are read, exported and imported.

    python .ci/parts.py            what is not as this file says: numbers, heads and set-up cells of pages, the sidebar
    python .ci/parts.py --write    heads, set-up and last cells of pages and the sidebar are written anew

Who adds a page names its module here, gives the file the number that is asked for, and runs `--write`.
"""
import json
import re
import sys
from pathlib import Path

NBS = Path(__file__).resolve().parent.parent / "nbs"
PARTS = {
    "The idea": "pages reference exactness theory",
    "The decoder": "sampling anatomy cache models drafters lookup trace text request processors decoding",
    "The evidence": "proof timing llama",
    "Faster": "rules llama_step kernels compiled graphs trees medusa crossing",
    "Other models, other aims": "admission any_model encoder t5 variants",
    "In use": "generate cli production",
}
ROMAN = "I", "II", "III", "IV", "V", "VI"
SETUP = """\
#| hide
import sys
RUN_SLOW = False  # True: in Colab, too, what is flagged slow, gpu or hub (downloads)
if "google.colab" in sys.modules and "specdec_nb" not in sys.modules:
    repo = "https://github.com/specdec-nb/specdec_nb"
    !test -d specdec_nb || git clone -q --depth 1 {repo}
    %cd -q specdec_nb/nbs
    !pip install -q .. hypothesis
    from specdec_nb.pages import skip_flagged
    skip_flagged(get_ipython())"""
LAST = """\
#| hide
from importlib.util import find_spec
if find_spec("nbdev") and "google.colab" not in sys.modules:
    import nbdev; nbdev.nbdev_export()"""
BOOK = [(i, k, name) for i, names in enumerate(PARTS.values()) for k, name in enumerate(names.split())]


def stem(n): return f"{n:02}_{BOOK[n][2]}"


def title(n): return json.loads((NBS / f"{stem(n)}.ipynb").read_text())["cells"][0]["source"][0].lstrip("# ").strip()


def head(n):
    "Where a page stands: its part, and its neighbours"
    part, k, _ = BOOK[n]
    name, count = [*PARTS][part], sum(p == part for p, *_ in BOOK)
    where = f"*Part {ROMAN[part]}, {name}: {k + 1} of {count}.*"
    before = f" Before this: [{title(n - 1)}]({stem(n - 1)}.ipynb)." if n else ""
    after = f" After it: [{title(n + 1)}]({stem(n + 1)}.ipynb)." if n + 1 < len(BOOK) else ""
    return where + before + after


def sidebar():
    lines = ["website:", "  sidebar:", "    contents:", "      - index.ipynb"]
    for part, name in enumerate(PARTS):
        lines += [f"      - section: \"{ROMAN[part]} {name}\"", "        contents:"]
        lines += [f"          - {stem(n)}.ipynb" for n, page in enumerate(BOOK) if page[0] == part]
    return "\n".join(lines) + "\n"


def cell(book, place, kind, name, found=lambda source: False):
    "The cell of this name, or the one found by its source; else a new one, at this place"
    for c in book["cells"]:
        if c["cell_type"] == kind and (c["id"] == name or found("".join(c["source"]))): return c
    new = {"cell_type": kind, "id": name, "metadata": {}, "source": []}
    if kind == "code": new |= {"execution_count": None, "outputs": []}
    book["cells"].insert(len(book["cells"]) if place is None else place, new)
    return new


def wanted_cells(book, n):
    "The cells of a page that this file writes, and what they say; the front page, which has no number, has no head"
    if n is not None: yield cell(book, 2, "markdown", "part"), head(n)
    yield cell(book, 3, "code", "setup", lambda source: "google.colab" in source and "nbdev" not in source), SETUP
    yield cell(book, None, "code", "export", lambda source: "nbdev_export()" in source), LAST


def unlike(name, n, write):
    "What a page says otherwise; written anew, if `write`"
    book, found = json.loads((NBS / name).read_text()), []
    for c, said in wanted_cells(book, n):
        if "".join(c["source"]) == said: continue
        c["source"] = said.splitlines(keepends=True)
        found.append(f"{name}: cell {c['id']} is not {said!r}; run .ci/parts.py --write")
    if not (found and write): return found
    (NBS / name).write_text(json.dumps(book, indent=1, ensure_ascii=False) + "\n")
    return []


def faults(write):
    wanted = [f"{stem(n)}.ipynb" for n in range(len(BOOK))]
    there = sorted(p.name for p in NBS.glob("[0-9]*.ipynb"))
    if there != wanted:
        return [f"nbs/: no page {name}" for name in wanted if name not in there] + [
                f"nbs/{name}: stands nowhere in PARTS" for name in there if name not in wanted]
    found = [fault for n, name in enumerate(wanted) for fault in unlike(name, n, write)] + unlike("index.ipynb", None, write)
    file = NBS / "sidebar.yml"
    if write: file.write_text(sidebar())
    if not file.exists() or file.read_text() != sidebar(): found.append("nbs/sidebar.yml: run .ci/parts.py --write")
    return found


if __name__ == "__main__":
    told = faults("--write" in sys.argv)
    print("\n".join(told) or f"{len(BOOK)} pages in {len(PARTS)} parts: nothing to say")
    sys.exit(bool(told))
