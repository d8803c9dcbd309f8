"""The book: its parts, and the pages of each in the order in which they are read, exported and imported.

    python .ci/parts.py            what is not as this file says: numbers, heads of pages, the sidebar
    python .ci/parts.py --write    heads of pages and the sidebar are written anew

Who adds a page names its module here, gives the file the number that is asked for, and runs `--write`.
"""
import json
import re
import sys
from pathlib import Path

NBS = Path(__file__).resolve().parent.parent / "nbs"
PARTS = {
    "The idea": "pages reference statistics exactness theory",
    "The decoder": "sampling anatomy cache models drafters lookup trace text request processors decoding",
    "The evidence": "proof timing costs diagnosis results llama",
    "Faster": "rules llama_step kernels compiled graphs trees medusa crossing",
    "Other models, other aims": "admission any_model encoder t5 variants",
    "In use": "generate shell prompts cli fetch production",
}
ROMAN = "I", "II", "III", "IV", "V", "VI"
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


def faults(write):
    wanted = [f"{stem(n)}.ipynb" for n in range(len(BOOK))]
    there = sorted(p.name for p in NBS.glob("[0-9]*.ipynb"))
    if there != wanted:
        return [f"nbs/: no page {name}" for name in wanted if name not in there] + [
                f"nbs/{name}: stands nowhere in PARTS" for name in there if name not in wanted]
    found = []
    for n, name in enumerate(wanted):
        text = (NBS / name).read_text()
        book = json.loads(text)
        cell = next((c for c in book["cells"] if c["id"] == "part"), None)
        if cell is not None and "".join(cell["source"]) == head(n): continue
        if not write: found.append(f"{name}: its head is not {head(n)!r}; run .ci/parts.py --write")
        if write and cell is None:
            cell = {"cell_type": "markdown", "id": "part", "metadata": {}}
            book["cells"].insert(2, cell)
        if write:
            cell["source"] = [head(n)]
            (NBS / name).write_text(json.dumps(book, indent=1, ensure_ascii=False) + "\n")
    file = NBS / "sidebar.yml"
    if write: file.write_text(sidebar())
    if not file.exists() or file.read_text() != sidebar(): found.append("nbs/sidebar.yml: run .ci/parts.py --write")
    return found


if __name__ == "__main__":
    told = faults("--write" in sys.argv)
    print("\n".join(told) or f"{len(BOOK)} pages in {len(PARTS)} parts: nothing to say")
    sys.exit(bool(told))
