"""The programs to compare with: found, or set up in the cache, pinned."""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "claude-runner"
JAQ = "3.1.2"
# The newest whose native program is there for every platform.
CCUSAGE = "20.0.24"
# The Python binding of jq carries the source of jq itself.
JQ, JQ_BINDING = "1.8.2", "1.13.0"


def quiet(*command, **options):
    """Runs a command; whether it succeeded."""
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options)
    return done.returncode == 0


def version(program):
    """The version a program says it has, or None if it does not start."""
    try:
        done = subprocess.run([program, "--version"], capture_output=True, text=True)
    except OSError:
        return None
    found = re.search(r"\d+\.\d+(\.\d+)?", done.stdout)
    return found.group() if found else None


def say_size(what, folder):
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    print(f"bench: set up {what} in {folder}, {size / 1e6:.0f} MB", file=sys.stderr)


def distribution_jq():
    """The jq of the machine, or of its distribution, unpacked."""
    if shutil.which("jq"):
        return shutil.which("jq")
    folder = CACHE / "jq-distribution"
    wrapper = folder / "jq"
    if not wrapper.exists() and shutil.which("apt-get"):
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory() as work:
            packages = ["jq", "libjq1", "libonig5"]
            if not quiet("apt-get", "download", *packages, cwd=work):
                quiet("apt-get", "update")
                quiet("apt-get", "download", *packages, cwd=work)
            for package in Path(work).glob("*.deb"):
                quiet("dpkg", "-x", str(package), str(folder))
        libraries = ":".join(str(path) for path in folder.glob("usr/lib/*"))
        wrapper.write_text(f'#!/bin/sh\nLD_LIBRARY_PATH={libraries} exec {folder}/usr/bin/jq "$@"\n')
        wrapper.chmod(0o755)
        say_size("the distribution's jq", folder)
    return str(wrapper) if version(wrapper) else None


def new_jq():
    """jq 1.8, built from source once."""
    own = shutil.which("jq")
    if own and (version(own) or "").startswith("1.8"):
        return own
    folder = CACHE / f"jq-{JQ}"
    program = folder / "jq"
    if not program.exists():
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory() as work:
            work = Path(work)
            source = [sys.executable, "-m", "pip", "download", "--no-deps", "--no-binary", "jq"]
            quiet(*source, f"jq=={JQ_BINDING}", cwd=work)
            for archive in [f"jq-{JQ_BINDING}.tar.gz", f"jq-{JQ_BINDING}/deps/jq-{JQ}.tar.gz"]:
                if (work / archive).exists():
                    tarfile.open(work / archive).extractall(work)
            tree = work / f"jq-{JQ}"
            configure = ["./configure", "--disable-docs", "--disable-maintainer-mode"]
            configure += ["--with-oniguruma=builtin", "--enable-all-static"]
            if tree.exists() and quiet(*configure, cwd=tree) and quiet("make", "-j2", cwd=tree):
                shutil.copy2(tree / "jq", program)
                say_size(f"jq {JQ}", folder)
    return str(program) if version(program) else None


def jaq():
    """jaq, built from source once."""
    folder = CACHE / f"jaq-{JAQ}"
    program = folder / "bin" / "jaq"
    if not program.exists():
        quiet("cargo", "install", "--locked", "jaq", "--version", JAQ, "--root", str(folder))
        if program.exists():
            say_size(f"jaq {JAQ}", folder)
    return str(program) if version(program) else None


def ccusage():
    """The native program of ccusage, without the script that starts it."""
    folder = CACHE / f"ccusage-{CCUSAGE}"
    pattern = "node_modules/@ccusage/*/bin/ccusage"
    if not any(folder.glob(pattern)) and shutil.which("npm"):
        folder.mkdir(parents=True, exist_ok=True)
        if quiet("npm", "install", "--prefix", str(folder), f"ccusage@{CCUSAGE}"):
            say_size(f"ccusage {CCUSAGE}", folder)
    program = next(folder.glob(pattern), None)
    if program:
        # The package has it without the permission; its starter gives it.
        program.chmod(0o755)
    return str(program) if program and version(program) else None


def all_of_them():
    """Programs by name, and what could not be had."""
    found, missing = {}, []
    old, new = distribution_jq(), new_jq()
    if old and old != new:
        found[f"jq {version(old)}"] = old
    elif not old:
        missing.append("the distribution's jq")
    for name, program in [(f"jq {JQ}", new), (f"jaq {JAQ}", jaq()), ("node", shutil.which("node"))]:
        if program:
            found[name] = program
        else:
            missing.append(name)
    return found, missing
