"""What a wheel and a source distribution must hold, and what the wheel must do where it is installed.

    python -P .ci/installed.py WHEEL SDIST     with the wheel installed, and no project around
"""
import importlib
import pkgutil
import re
import shutil
import socket
import subprocess
import sys
import tarfile
import zipfile
from contextlib import redirect_stdout
from importlib.metadata import metadata
from io import StringIO
from pathlib import Path


def sizes(*archives):
    "Each is small enough to be fetched in a moment"
    for file in map(Path, archives):
        assert file.stat().st_size < 25e6, f"{file.name} takes {file.stat().st_size / 1e6:.1f} MB of at most 25"


def source(sdist):
    "The source distribution holds what the wheel is built from, and no pages, results or corpus"
    with tarfile.open(sdist) as tar: files = [m.name.split("/", 1)[1] for m in tar.getmembers() if m.isfile()]
    of_project = {"LICENSE", "MANIFEST.in", "PKG-INFO", "README.md", "settings.ini", "setup.cfg", "setup.py"}
    strays = [name for name in files if not name.startswith(("specdec_nb/", "specdec_nb.egg-info/"))]
    assert set(strays) == of_project, f"in the source distribution: {sorted(set(strays) ^ of_project)}"
    check_package(files)


def check_package(files):
    "The package is said to be typed, and nothing in it is left over from somebody's work"
    assert "specdec_nb/py.typed" in files, "no specdec_nb/py.typed: type checkers would not read the package"
    junk = [name for name in files if re.search(r"\.ipynb|__pycache__|\.pyc$|corpus|/\.|~$", name)]
    assert not junk, f"there for no reason: {junk}"


def contents(wheel):
    "Both pairs are in the wheel; the corpus, the pages and what only development needs are not"
    files = {info.filename: info.file_size for info in zipfile.ZipFile(wheel).infolist()}
    check_package(files)
    holds(files, "pair/", ("tokenizer.json", "prompts.json", "professor/", "intern/", "medusa/"), weights=3, size=16)
    holds(files, "pair_t5/", ("tokenizer.json", "items.json", "professor/", "intern/"), weights=2, size=3)
    strays = [name for name in files if not name.startswith("specdec_nb")]
    assert not strays, f"in the wheel for no reason: {strays}"


def holds(files, folder, needed, weights, size):
    "A folder of the package has what is needed, so many weight files, and at most so many megabytes"
    folder = f"specdec_nb/{folder}"
    there = {name: size for name, size in files.items() if name.startswith(folder)}
    for item in needed: assert any(name.startswith(folder + item) for name in there), f"the wheel has no {folder}{item}"
    found = sorted(name for name in there if name.endswith(".safetensors"))
    assert len(found) == weights, f"the wheel has not {weights} weight files in {folder}: {found}"
    assert sum(there.values()) <= size * 1e6, f"{folder} takes {sum(there.values()) / 1e6:.1f} MB of at most {size}"


def light(code, *heavy):
    "Run `code` in a new process, where it must import none of the modules `heavy`"
    guard = f"import sys; heavy = set({heavy}) & set(sys.modules); assert not heavy, heavy"
    done = subprocess.run([sys.executable, "-c", f"{code}; {guard}"], capture_output=True, text=True)
    assert not done.returncode, f"`{code}` imports too much:\n{done.stderr}"


def imports():
    "Every module imports, every public name resolves, and the light parts are light"
    import specdec_nb
    light("import specdec_nb", "numpy", "torch", "transformers")
    for module in ("reference", "exactness", "theory"): light(f"import specdec_nb.{module}", "torch", "transformers")
    for module in pkgutil.iter_modules(specdec_nb.__path__): importlib.import_module(f"specdec_nb.{module.name}")
    for name in specdec_nb.__all__: getattr(specdec_nb, name)
    try: specdec_nb.no_such_name
    except AttributeError as e: assert "no_such_name" in str(e)


def quick():
    "Importing the package costs next to nothing"
    code = "import os; begun = os.times().user; import specdec_nb; print(os.times().user - begun)"
    times = [float(subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, check=True).stdout)
             for _ in range(3)]
    assert min(times) < 0.2, f"`import specdec_nb` takes {min(times):.2f} s"


def readme():
    "The description shows its pictures wherever it is read, and its Python runs, block by block, where there is no project"
    about = metadata("specdec_nb")
    text = about["Description"] or about.get_payload()
    beside = re.findall(r"!\[[^\]]*\]\((?!https?:)[^)]*", text)
    assert not beside, f"README.md: pictures that lie beside it: {beside}"
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)
    assert len(blocks) > 3, "README.md: where are its blocks of Python?"
    names = {}
    with redirect_stdout(StringIO()):
        for block in blocks: exec(block, names)


def offline_pair():
    "Loading what ships needs no network"
    def refuse(*args): raise AssertionError("load_pair() asked for the network")
    socket.socket.connect = refuse
    import specdec_nb
    assert len(specdec_nb.load_pair()) == len(specdec_nb.load_t5_pair()) == 3


def same_command():
    "`python -m specdec_nb` says what `specdec` says"
    script = shutil.which("specdec", path=str(Path(sys.executable).parent))
    said = [subprocess.run([*way, *argv], capture_output=True, text=True, check=not argv)
            for argv in ([], ["demo", "--temp", "1"]) for way in ([script], [sys.executable, "-m", "specdec_nb"])]
    told = [(done.returncode, done.stdout, done.stderr) for done in said]
    assert told[0] == told[1] and told[2] == told[3] and told[2][0] == 2, told


if __name__ == "__main__":
    sizes(*sys.argv[1:])
    contents(sys.argv[1])
    source(sys.argv[2])
    quick()
    imports()
    same_command()
    offline_pair()
    readme()
    print("the wheel installs, imports and loads its pairs; README.md runs")
