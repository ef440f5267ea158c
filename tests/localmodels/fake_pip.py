"""Stands in for pip: `fake_pip.py MODE FOLDER download … --dest DIR … name==version`.

copy: takes the wheel out of FOLDER. half: stops half-way until FOLDER/go exists. hang: never ends. say: fails with
FOLDER/words.txt. Each start adds its process id to FOLDER/starts.txt.
"""

import os
import shutil
import sys
import time
from pathlib import Path

mode, folder = sys.argv[1], Path(sys.argv[2])
dest = Path(sys.argv[sys.argv.index("--dest") + 1])
name, _, version = sys.argv[-1].partition("==")
with (folder / "starts.txt").open("a", encoding="utf-8") as file:
    file.write(f"{os.getpid()}\n")

if mode == "say":
    sys.stderr.write((folder / "words.txt").read_text(encoding="utf-8"))
    sys.exit(1)

wheel = folder / f"{name.replace('-', '_')}-{version}-py3-none-any.whl"
data = wheel.read_bytes()
arriving = Path(os.environ["TMPDIR"], wheel.name)
arriving.write_bytes(data[: len(data) // 2])
if mode == "hang":
    time.sleep(600)
deadline = time.monotonic() + 30
while mode == "half" and not (folder / "go").exists() and time.monotonic() < deadline:
    time.sleep(0.02)
arriving.write_bytes(data)
shutil.move(arriving, dest / wheel.name)
