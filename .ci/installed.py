"""What a wheel must hold and do: `python -P .ci/installed.py WHEEL`, with the wheel installed and no project around."""
import importlib
import pkgutil
import shutil
import socket
import subprocess
import sys
import zipfile
from pathlib import Path


def contents(wheel):
    "Both pairs are in the wheel; the corpus, the pages and what only development needs are not"
    files = {info.filename: info.file_size for info in zipfile.ZipFile(wheel).infolist()}
    holds(files, "pair/", ("tokenizer.json", "prompts.json", "professor/", "intern/", "medusa/"), weights=3, size=16)
    holds(files, "pair_t5/", ("tokenizer.json", "items.json", "professor/", "intern/"), weights=2, size=3)
    strays = [name for name in files if not name.startswith("specdec_nb") or "corpus" in name]
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
    contents(sys.argv[1])
    imports()
    same_command()
    offline_pair()
    print("the wheel installs, imports and loads its pairs")
