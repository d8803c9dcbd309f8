"""Every page under older and newer versions of what it stands on, each set in an environment of its own.

    python .ci/versions.py                          all sets, all pages
    python .ci/versions.py 04 09 --sets colab       one set; pages whose names begin so
    python .ci/versions.py --envs FOLDER            keep the environments there, to be used again

A page passes when no cell of it raises. Outputs that differ from the stored ones (counts of another version's
operations, say) are named and do not fail it: what must hold under every version is asserted. (The goldens are
numbers of the pinned versions, and are compared there only.) A set that is not
complete leaves the others' lines in `nbs/results/versions.json` as they are.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import time
import venv
from datetime import date
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "nbs/results/versions.json"
SETS = {
    "oldest": "torch==2.6.0 transformers==5.0.0 numpy==2.1.3",
    "5.0": "torch==2.13.0 transformers==5.0.0",
    "colab": "torch==2.11.0 transformers==5.15.0 numpy==2.1.3",
    "newest": f"-c {ROOT / 'constraints.txt'} torch transformers",
}
STALE = "the output is not the stored one"


def environment(folder, name):
    "The interpreter of a set; its environment is made if it is not there"
    python = folder / name / ("Scripts" if os.name == "nt" else "bin") / "python"
    if not python.exists():
        venv.create(folder / name, with_pip=True)
        pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, *SETS[name].split(), "-e", f"{ROOT}[dev]"], check=True)
    return python


def versions(python):
    code = "import torch, transformers, numpy; print(torch.__version__, transformers.__version__, numpy.__version__)"
    run = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True)
    return dict(zip(("torch", "transformers", "numpy"), run.stdout.split()[-3:]))


def verdict(python, page):
    "What became of one page: passed, which outputs differ, or the line that says what went wrong"
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    run = subprocess.run([python, "-m", "pytest", "-q", "-p", "no:cacheprovider", page], cwd=ROOT, env=env,
                         capture_output=True, text=True)
    if run.returncode == 0: return "passed"
    told = re.findall(r"^(\S+\.ipynb, cell \d+), (.*)$", run.stdout, re.M)
    differ = [where.split(", ")[1] for where, what in told if STALE in what]
    raised = [where for where, what in told if STALE not in what]
    if differ and not raised: return "passed; outputs differ: " + ", ".join(differ)
    wrong = re.findall(r"^\w*(?:Error|Failure|Interrupt)\b.*", run.stdout, re.M)
    return f"FAILED: {raised[0] if raised else page.name}: {wrong[-1] if wrong else run.stdout.strip()[-200:]}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pages", nargs="*", help="what the names of pages begin with; none: all")
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS))
    parser.add_argument("--envs", type=Path, default=Path.home() / ".cache/specdec_nb/versions")
    args = parser.parse_args()
    pages = [p for p in sorted((ROOT / "nbs").glob("[0-9]*.ipynb"))
             if not args.pages or p.name.startswith(tuple(args.pages))]
    kept = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for name in args.sets:
        python = environment(args.envs, name)
        told = versions(python) | {"date": str(date.today()), "command": "python .ci/versions.py", "pages": {}}
        told["pages"] = dict(kept.get(name, {}).get("pages", {}))
        for page in pages:
            begun = time.monotonic()
            title = page.stem.split("_", 1)[1]                # the numbers of pages may change
            told["pages"][title] = verdict(python, page)
            print(f"{name:8}{title:16}{told['pages'][title]}  ({time.monotonic() - begun:.0f} s)", flush=True)
            kept = (json.loads(RESULTS.read_text()) if RESULTS.exists() else {}) | {name: told}
            RESULTS.write_text(json.dumps(kept, indent=1) + "\n")       # another set may be under way
    return any("FAILED" in v for name in args.sets for v in kept[name]["pages"].values())


if __name__ == "__main__": sys.exit(main())
