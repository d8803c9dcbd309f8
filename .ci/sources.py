"""What the sources must keep to, beyond passing their tests: one line for each place that does not.

* a page imports only from pages with a lower number;
* a cell that imports does nothing else, and has no test flag (the site's build runs each cell that has an import);
* a page's Colab badge opens that page;
* the generated modules have no undefined or unused name (one from an earlier page may be there to be passed on);
* no file names a folder of one machine or, those for hosted checks apart, the host of a package registry.
"""
import ast
import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
import specdec_nb

FLAGS = re.search(r"^tst_flags = (.*)", (ROOT / "settings.ini").read_text(), re.M)[1].split()
LOCAL = re.compile(r"/(?:work|root|home|Users|srv|mnt|opt)/|\b(?:site|dist)-packages/")
HOSTS = re.compile(r"\bpypi\.|pythonhosted\.|registry\.npmjs|download\.pytorch|jsdelivr\.|unpkg\.|index[-]url")
PAGES = sorted((ROOT / "nbs").glob("[0-9]*.ipynb"))


def number(page): return int(page.name.split("_")[0])


def code_cells(page):
    "The number from 1, the directives and the syntax tree of each code cell; shell and magic lines left out"
    for i, cell in enumerate(json.loads(page.read_text())["cells"], 1):
        source = "".join(cell["source"])
        if cell["cell_type"] == "code" and not re.search("^%%", source, re.M):
            directives = set(re.findall(r"^#\|\s*(\w+)", source, re.M))
            yield i, directives, ast.parse(re.sub(r"^(\s*)[%!].*", r"\1pass", source, flags=re.M), f"{page.name}, cell {i}")


def imported(tree):
    "The modules of this package that the code imports"
    for node in ast.walk(tree):
        if isinstance(node, ast.Import): names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module == "specdec_nb":
            names = [f"specdec_nb.{specdec_nb._HOME.get(alias.name, alias.name)}" for alias in node.names]
        elif isinstance(node, ast.ImportFrom): names = [node.module or ""]
        else: continue
        yield from (name.split(".")[1] for name in names if name.startswith("specdec_nb."))


def import_order():
    numbers = {}
    for page in PAGES:
        module = re.search(r"#\|\s*default_exp\s+(\w+)", page.read_text())
        if module: numbers[module[1]] = number(page)
    for page in PAGES:
        for i, _, tree in code_cells(page):
            for module in imported(tree):
                if module not in numbers: yield f"{page.name}, cell {i}: imports {module}, which no page exports"
                elif numbers[module] > number(page): yield f"{page.name}, cell {i}: imports {module}, a later page"


def import_cells():
    for page in (ROOT / "nbs").glob("*.ipynb"):
        for i, directives, tree in code_cells(page):
            imports = [isinstance(node, (ast.Import, ast.ImportFrom)) for node in tree.body]
            inner = any(isinstance(node, (ast.Import, ast.ImportFrom)) for node in ast.walk(tree))
            if not inner or "nbdev_export" in ast.unparse(tree) or "google.colab" in ast.unparse(tree): continue
            if directives & set(FLAGS): yield f"{page.name}, cell {i}: an import in a cell with a test flag"
            if any(imports) and not all(imports) or not any(imports) and not directives & {"export", "exports", "exporti"}:
                yield f"{page.name}, cell {i}: an import beside other code"


def badges():
    for page in (ROOT / "nbs").glob("*.ipynb"):
        links = re.findall(r"colab\.research\.google\.com/github/([^)]+)\)", page.read_text())
        if links != [f"specdec-nb/specdec_nb/blob/main/nbs/{page.name}"]: yield f"{page.name}: its Colab badge opens {links}"


def addresses():
    "A page's place on the site is its name without the number, so no two may share one"
    seen = {}
    for page in PAGES:
        name = page.stem.split("_", 1)[1]
        if name in seen: yield f"{page.name}: the site would put it where it puts {seen[name]}"
        seen[name] = page.name


def editors():
    "What an editor or a type checker reads in the package's first file are its public names"
    tree = ast.parse((ROOT / "specdec_nb/__init__.py").read_text())
    block = next((n for n in tree.body if isinstance(n, ast.If) and "TYPE_CHECKING" in ast.unparse(n.test)), ast.parse(""))
    told = {(n.module, a.name) for n in block.body if isinstance(n, ast.ImportFrom) for a in n.names}
    public = {(module, name) for name, module in specdec_nb._HOME.items()}
    yield from (f"specdec_nb/__init__.py: {module}.{name} is not the same for editors" for module, name in sorted(told ^ public))


def names():
    run = subprocess.run([sys.executable, "-m", "pyflakes", "specdec_nb"], cwd=ROOT, capture_output=True, text=True)
    yield from (line for line in (run.stdout + run.stderr).splitlines() if not re.search(r"'\..*imported but unused", line))


def machines():
    files = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True)
    for file in files.stdout.splitlines():
        try: lines = (ROOT / file).read_text(encoding="utf-8").splitlines()
        except (UnicodeDecodeError, FileNotFoundError): continue
        for i, line in enumerate(lines, 1):
            if len(line) > 5000: continue                                       # a picture
            hit = LOCAL.search(line) or not file.startswith(".github/") and HOSTS.search(line)
            if hit: yield f"{file}:{i}: {hit[0]}"


if __name__ == "__main__":
    faults = [fault for check in (import_order, import_cells, badges, addresses, editors, names, machines) for fault in check()]
    print("\n".join(faults) or f"{len(PAGES)} numbered pages: nothing to say")
    sys.exit(bool(faults))
