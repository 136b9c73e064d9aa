# SPDX-License-Identifier: MIT
"""Runs perf or Sonde on a recording of this folder, always in the same way."""
import os
import shutil
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "corpus"))

from perf_text import MASKS, Output  # noqa: E402 pylint: disable=wrong-import-position
from recipes import TEXTS  # noqa: E402 pylint: disable=wrong-import-position

WHEN = 1700000000  # the header of perf shows when a file was changed


def path_of(name):
    return os.path.join(HERE, name + ".data")


def golden_of(name, text):
    return os.path.join(HERE, f"{name}.{text}")


def copy(name, scratch):
    """Files in a repository have no time of their own."""
    at = os.path.join(scratch, name + ".data")
    if os.path.isdir(path_of(name)):
        shutil.copytree(path_of(name), at, dirs_exist_ok=True)
        for part in os.listdir(at):
            os.utime(os.path.join(at, part), (WHEN, WHEN))
    else:
        shutil.copyfile(path_of(name), at)
    os.utime(at, (WHEN, WHEN))


def masks_of(recipe, name):
    """What perf_text.py knows about the rows of doc/differences.md that the recipe names for this text."""
    rows = recipe.masks.get(name, ())
    return [m for m in MASKS if m.row in rows and m.command in (None, TEXTS[name].split()[0])]


def run(tool, recipe, name, scratch):
    """The text NAME of a recording; of `stat report`, which prints its table to standard error, that."""
    copy(recipe.name, scratch)
    command = TEXTS[name].split()
    for mask in masks_of(recipe, name):
        command += mask.both + (mask.perf if tool == "perf" else [])
    if command[0] in ("report", "script") and "--header-only" not in command:
        command += ["--kallsyms=/dev/null", "--symfs", os.path.join(HERE, "root")]
    command += [] if command[0] == "stat" else ["-f"]
    output = Output([tool, *command, "-i", recipe.name + ".data"], scratch, cwd=scratch)
    return output.errors if command[0] == "stat" else output.text
