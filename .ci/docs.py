"""Build the site into _docs/: `python .ci/docs.py`, then look at it with `python -m http.server -d _docs`.

nbdev turns the notebooks into pages (`proc_nbs`), and smalldocs, which reads Quarto's configuration, turns those into
HTML. KaTeX and mermaid come from npm and are kept in a cache, so that a page asks no other host for anything; without
npm the pages load them from where smalldocs does.
"""
import inspect
import os
import re
import shutil
import subprocess
import sys
import tarfile
from importlib import import_module
from itertools import takewhile
from pathlib import Path

from nbdev.config import get_config
from nbdev.quarto import nbdev_sidebar, refresh_quarto_yml
from nbdev.serve import proc_nbs
from smalldocs import layout, site
from smalldocs.config import load

ROOT = Path(__file__).resolve().parent.parent
CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "specdec_nb"
LIBRARIES = {  # npm package -> the files of its `dist` that a page needs
    "katex": r"katex\.min\.(css|js)|contrib/auto-render\.min\.js|fonts/.*\.woff2",
    "mermaid": r"mermaid\.esm\.min\.mjs|chunks/mermaid\.esm\.min/.*\.mjs",
}


def libraries():
    "Fetch what is not in the cache yet, in the versions smalldocs asks for, and point smalldocs at the copies"
    if not shutil.which("npm"):
        print("npm not found: the pages will load KaTeX and mermaid from another host", file=sys.stderr)
        return {}
    folders = {}
    for name, version in re.findall(r"npm/(\w+)@([\d.]+)/", layout.KATEX + " " + layout.MERMAID):
        folders[name] = CACHE / f"{name}-{version}"
        if not folders[name].exists(): fetch(name, version)
    layout.KATEX, layout.MERMAID = "site_libs/katex", "./site_libs/mermaid/mermaid.esm.min.mjs"
    return folders


def fetch(name, version):
    "Put the needed files of an npm package into the cache"
    CACHE.mkdir(parents=True, exist_ok=True)
    subprocess.run(["npm", "pack", "--silent", f"{name}@{version}"], cwd=CACHE, check=True, stdout=subprocess.DEVNULL)
    archive, partial = CACHE / f"{name}-{version}.tgz", CACHE / f"{name}.partial"
    wanted = re.compile(rf"package/dist/({LIBRARIES[name]})")
    with tarfile.open(archive) as tar:
        tar.extractall(partial, [m for m in tar.getmembers() if wanted.fullmatch(m.name)], filter="data")
    shutil.move(partial / "package/dist", CACHE / f"{name}-{version}")
    shutil.rmtree(partial)
    archive.unlink()


def fields(module, name):
    "A class that takes what its fields are, NamedTuple or dataclass: as it is written, up to its first method"
    source = inspect.getsource(getattr(import_module(f"specdec_nb.{module}"), name)).split('\n')
    head = takewhile(lambda line: not line.startswith(("    def ", "    @")), source)
    return "\n".join(line for line in head if line.strip() and not line.lstrip().startswith(('"', "@")))


class Site(site.Site):
    "smalldocs' site under nbdev's names (01_reference.ipynb becomes reference.html), its libraries beside the pages"
    def __init__(self, project, home, libs):
        super().__init__(project, quiet=True)
        self.home, self.libs = home, libs

    def read(self, src):
        page = super().read(src)
        page.out = page.out.with_name(page.front.get("output-file", page.out.name))
        page.body = re.sub(rf"\[(`_[^`]+`)\]\({self.home}[^)]*\)", r"\1", page.body)  # private names have no entry
        page.body = re.sub(r"^```python\n.*?^```", lambda m: re.sub(r"\[(`[^`]+`)\]\([^)]*\)", r"\1", m[0]), page.body,
                           flags=re.M | re.S)                                        # no links within code
        page.body = re.sub(r"def (\w+)\(\n    \*args, \*\*kwargs\n\):", lambda m: fields(page.out.stem, m[1]), page.body)
        return page

    def find_page(self, target):
        return super().find_page(target) or next((page for page in self.pages.values() if page.out == target), None)

    def resolve(self, href, page, record=True):
        "nbdev links a name in backticks to the published site: make it a link within this one, a method's to its class"
        if href.startswith(self.home): href = re.sub(r"(#\w+)\.\w+$", r"\1", href.removeprefix(self.home))
        return super().resolve(href, page, record)

    def warn(self, msg):
        if "output-file" not in msg: super().warn(msg)  # `read` has seen to it

    def copy_assets(self, nav):
        super().copy_assets(nav)
        uses = {"katex": "math", "mermaid": "mermaid"}
        for name, folder in self.libs.items():
            if any(page.env.get(uses[name]) for page in self.pages.values()):
                shutil.copytree(folder, self.out / "site_libs" / name)
        for css in self.out.glob("site_libs/themes/*.css"):  # no fonts from another host
            css.write_text(re.sub(r"@import url\(https?:[^)]*\);", "", css.read_text()))


def main():
    "Build the site; complain, and return 1, when a link leads nowhere or smalldocs cannot read something"
    os.chdir(ROOT)
    os.environ.update(TRANSFORMERS_VERBOSITY="error", HF_HUB_OFFLINE="1")
    cfg = get_config()
    refresh_quarto_yml()
    nbdev_sidebar.__wrapped__()
    pages = proc_nbs(force=True)
    built = Site(load(pages), cfg.doc_host + cfg.doc_baseurl, libraries())
    built.out = ROOT / cfg.doc_path.name
    count = built.build()
    for warning in built.warnings: print("warning:", warning, file=sys.stderr)
    print(f"{count} pages in {built.out.name}/")
    return bool(built.warnings)


if __name__ == "__main__": sys.exit(main())
