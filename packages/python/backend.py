"""Builds the wheel, which holds the library that `make c` builds. It needs nothing but Python, and no network.

pip and other front ends call the functions of PEP 517. CLEW_LIBRARY names another library than that of `make c`.
"""

import base64
import hashlib
import os
import pathlib
import re
import sys
import sysconfig
import zipfile

from clew._library import NAME, version

HERE = pathlib.Path(__file__).parent


def _library():
    """Returns the library, which the package itself then loads to say its version."""
    path = pathlib.Path(os.environ.setdefault("CLEW_LIBRARY", str(HERE.parent.parent / "bin" / NAME)))
    if not path.exists():
        raise SystemExit(f"{path} is not there; build it with: make c")
    return path


def _version(said):
    """Returns the library's version as PEP 440 has it: v1.2.3, v1.2.3-rc.1, v1.2.4-0.TIME-COMMIT+dirty, or (devel)."""
    found = re.fullmatch(r"v(\d+\.\d+\.\d+)(?:-(alpha|beta|rc)\.(\d+))?(?:[-.](?:0\.)?(\d{14})-(\w+))?(\+dirty)?", said.split(" ")[0])
    if not found:
        return "0.0.0.dev0"
    number, before, count, time, commit, dirty = found.groups()
    if before:
        number += {"alpha": "a", "beta": "b", "rc": "rc"}[before] + count
    local = ".".join(filter(None, (commit, dirty and "dirty")))
    return number + (f".dev{time}" if time else "") + (f"+{local}" if local else "")


def _platform(library):
    """Returns the platform's tag. On Linux it says which glibc the library needs: the newest whose symbols it names."""
    own = re.sub(r"[-.]", "_", sysconfig.get_platform())
    needed = re.findall(rb"GLIBC_(\d+)\.(\d+)", library.read_bytes())
    if own.startswith("linux_") and needed:
        return "manylinux_%d_%d_%s" % (*max((int(a), int(b)) for a, b in needed), own[len("linux_"):])
    return own


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    library = _library()
    number, tag = _version(version()), f"py3-none-{_platform(library)}"
    info = f"clew-{number}.dist-info"
    files = {f"clew/{path.name}": path.read_bytes() for path in sorted((HERE / "clew").iterdir()) if path.is_file()}
    files["clew/" + NAME] = library.read_bytes()
    files[f"{info}/METADATA"] = (
        f"Metadata-Version: 2.1\nName: clew\nVersion: {number}\n"
        "Summary: Checks whether histories of concurrent operations are linearizable\n"
        "License: Apache-2.0\nRequires-Python: >=3.9\nClassifier: Framework :: Pytest\n"
    ).encode()
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: clew\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()
    files[f"{info}/entry_points.txt"] = b"[pytest11]\nclew = clew.pytest_plugin\n"
    files[f"{info}/LICENSE"] = (HERE.parent.parent / "LICENSE").read_bytes()
    others = library.parent / "THIRD_PARTY_LICENSES.txt"  # of what is in the library; `make python` writes it
    if others.exists():
        files[f"{info}/{others.name}"] = others.read_bytes()
    record = "".join(f"{name},sha256={_hash(data)},{len(data)}\n" for name, data in files.items())
    files[f"{info}/RECORD"] = (record + f"{info}/RECORD,,\n").encode()
    wheel = f"clew-{number}-{tag}.whl"
    with zipfile.ZipFile(pathlib.Path(wheel_directory) / wheel, "w", zipfile.ZIP_DEFLATED) as to:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name)  # of 1980, so that equal files make equal wheels
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o100644 << 16
            to.writestr(entry, data)
    return wheel


def _hash(data):
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


if __name__ == "__main__":
    print(build_wheel(sys.argv[1]))
