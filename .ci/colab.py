"""Every page as Colab runs it: "Run all" in an empty folder, where nothing of the project is installed.

    python .ci/colab.py                   all pages: the time of each, and the cells that raise
    python .ci/colab.py 04 index          pages whose names begin so
    python .ci/colab.py --env FOLDER      an environment that has what Colab has; without it, one is made and kept

All cells run in order in a real kernel, and go on after an error. The repository's address is answered by the files at
hand (git's `insteadOf`). What a page installs goes into an environment of its own on top of Colab's: so it is known
what that was, and that nothing of Colab's was replaced. The exit status is 1 if a cell raised or something was.
"""
import argparse
import json
import os
import queue
import shutil
import subprocess
import sys
import time
import venv
from pathlib import Path
from tempfile import TemporaryDirectory

from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import KernelManager
from versions import SETS

ROOT = Path(__file__).resolve().parent.parent
ADDRESS = "https://github.com/specdec-nb/specdec_nb"
HAS = (SETS["colab"] + " scipy matplotlib numba safetensors accelerate peft"  # what Colab has, of what pages import
       + " ipython==7.34.0 ipykernel==6.17.1 setuptools")


def call(*command, **how): return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, **how).stdout


def python_of(env): return env / ("Scripts" if os.name == "nt" else "bin") / "python"


def packages(python): return Path(call(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip())


def distributions(folder): return {p.name.split("-")[0].lower() for p in folder.glob("*.dist-info")}


def colabs_own(env):
    "Colab's environment, made if it is not there"
    if not python_of(env).exists():
        venv.create(env, with_pip=True)
        try: call(python_of(env), "-m", "pip", "install", "--quiet", *HAS.split())
        except subprocess.CalledProcessError:
            shutil.rmtree(env)                                  # half of it would be taken for all of it
            raise
    return packages(python_of(env))


def repository(folder):
    "A repository with one commit: the files at hand, committed or not"
    files = call("git", "ls-files", "-coz", "--exclude-standard", cwd=ROOT).split("\0")[:-1]
    for file in files:
        if not (ROOT / file).exists(): continue
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / file, folder / file)
    git = "git", "-c", "user.name=nobody", "-c", "user.email=nobody@example.org", "-c", f"core.hooksPath={os.devnull}"
    for command in (["init", "--quiet"], ["add", "--all", "--force"], ["commit", "--quiet", "-m", "The files at hand"]):
        call(*git, *command, cwd=folder)
    return folder


class Machine:
    "What a Colab machine is to a page: an environment on top of Colab's own, empty folders, and the repository's address"
    def __init__(self, colab, base, scratch):
        self.scratch, self.base, env = scratch, base, scratch / "env"
        call(python_of(colab), "-m", "venv", env)
        self.python = python_of(env)
        self.packages = packages(self.python)
        (self.packages / "colab.pth").write_text(f"{base}\n")
        (self.packages / "google/colab").mkdir(parents=True)
        (self.packages / "google/colab/__init__.py").touch()
        self.fresh = set(self.packages.iterdir())
        repo = repository(scratch / "repository")
        self.environ = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")} | {
            "PATH": f"{self.python.parent}{os.pathsep}{os.environ['PATH']}", "PYDEVD_DISABLE_FILE_VALIDATION": "1",
            "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": f"url.{repo.as_uri()}.insteadOf",
            "GIT_CONFIG_VALUE_0": ADDRESS}

    def run(self, page):
        "The page's errors, by cell"
        cells = json.loads(page.read_text(encoding="utf-8"))["cells"]
        with TemporaryDirectory(dir=self.scratch) as content, TemporaryDirectory(dir=self.scratch) as home:
            manager = KernelManager()
            manager._kernel_spec = KernelSpec(argv=[str(self.python), "-m", "ipykernel_launcher", "-f", "{connection_file}"])
            manager.start_kernel(cwd=content, env=self.environ | {"HOME": home, "PYTHONPATH": content})
            try: yield from run_cells(manager, cells)
            finally: manager.shutdown_kernel(now=True)
        yield from self.replaced()
        for path in set(self.packages.iterdir()) - self.fresh:
            shutil.rmtree(path) if path.is_dir() else path.unlink()

    def replaced(self):
        "What the page has put in the place of something that Colab has"
        here = {path for path in self.packages.glob("*.dist-info") if path not in self.fresh}
        again = {path.name.split("-")[0].lower() for path in here} & distributions(self.base) - {"specdec_nb"}
        yield from (f"{name} of Colab was replaced" for name in sorted(again))


def run_cells(manager, cells):
    "Run the cells in order; say which of them raised, and what"
    client = manager.client()
    client.start_channels()
    client.wait_for_ready(timeout=120)
    assert not list(replies(manager, client, "import google.colab"))
    for i, cell in enumerate(cells, 1):
        if cell["cell_type"] != "code": continue
        for name, value in replies(manager, client, "".join(cell["source"])):
            yield f"cell {i} ({cell['id']}): {name}: {value.strip().splitlines()[0] if value.strip() else ''}"[:240]
            if name == "DeadKernel": return


def replies(manager, client, code):
    "The errors of one cell: each a name and what it says"
    asked = client.execute(code, allow_stdin=False, stop_on_error=False)  # else the next cell may be dropped
    while True:
        try: message = client.get_iopub_msg(timeout=10)
        except queue.Empty:
            if manager.is_alive(): continue
            yield "DeadKernel", "the kernel died"
            return
        if message["parent_header"].get("msg_id") != asked: continue
        content = message["content"]
        if message["msg_type"] == "error": yield content["ename"], content["evalue"]
        if message["msg_type"] == "status" and content["execution_state"] == "idle": return


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pages", nargs="*", help="what the names of pages begin with; none: all")
    parser.add_argument("--env", type=Path, default=Path.home() / ".cache/specdec_nb/colab")
    args = parser.parse_args()
    pages = [p for p in sorted((ROOT / "nbs").glob("*.ipynb")) if not args.pages or p.name.startswith(tuple(args.pages))]
    if not pages: parser.error(f"pages: none begins with {', '.join(args.pages)}")
    base, wrong = colabs_own(args.env), 0
    with TemporaryDirectory() as scratch:
        machine = Machine(args.env, base, Path(scratch))
        for page in pages:
            begun = time.monotonic()
            errors = list(machine.run(page))
            wrong += bool(errors)
            print(f"{page.stem:16}{time.monotonic() - begun:5.0f} s  {len(errors)} errors", *errors, sep="\n    ", flush=True)
    print(f"{len(pages) - wrong} of {len(pages)} pages run in Colab")
    return bool(wrong)


if __name__ == "__main__": sys.exit(main())
