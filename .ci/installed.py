"""What a wheel must hold and do: `python -P .ci/installed.py WHEEL`, with the wheel installed and no project around."""
import importlib
import pkgutil
import socket
import subprocess
import sys
import zipfile


def contents(wheel):
    "The pair is in the wheel; the corpus, the pages and what only development needs are not"
    files = {info.filename: info.file_size for info in zipfile.ZipFile(wheel).infolist()}
    pair = {name: size for name, size in files.items() if name.startswith("specdec_nb/pair/")}
    for needed in ("tokenizer.json", "prompts.json", "professor/", "intern/"):
        assert any(name.startswith(f"specdec_nb/pair/{needed}") for name in pair), f"the wheel has no pair/{needed}"
    assert sum(name.endswith(".safetensors") for name in pair) == 2, f"the wheel has not two weight files: {sorted(pair)}"
    assert sum(pair.values()) <= 16e6, f"the pair takes {sum(pair.values()) / 1e6:.1f} MB of at most 16"
    strays = [name for name in files if not name.startswith("specdec_nb") or "corpus" in name]
    assert not strays, f"in the wheel for no reason: {strays}"


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
    "`load_pair` needs no network"
    def refuse(*args): raise AssertionError("load_pair() asked for the network")
    socket.socket.connect = refuse
    import specdec_nb
    assert len(specdec_nb.load_pair()) == 3


if __name__ == "__main__":
    contents(sys.argv[1])
    imports()
    offline_pair()
    print("the wheel installs, imports and loads its pair")
