# SPDX-License-Identifier: MIT
"""Runs perf's exported-sql-viewer.py on a database and prints what its windows show, as JSON:
viewer_window.py VIEWER DATABASE [FOLDER]

FOLDER gets a picture of each window. The viewer's event loop is replaced by a function that opens windows from the menu and
reads the models of their tables.
"""
import json
import os
import runpy
import sys
import time
from pathlib import Path

from PySide2 import QtCore, QtWidgets

VIEWER, DATABASE = sys.argv[1:3]
FOLDER = sys.argv[3] if len(sys.argv) > 3 else None
WINDOWS = {"graph": "Context-Sensitive Call Graph", "tree": "Call Tree", "branches": "All branches"}
ROOT = QtCore.QModelIndex()


def action(menu, text):
    for a in menu.actions():
        found = a if a.text().replace("&", "") == text else action(a.menu(), text) if a.menu() else None
        if found:
            return found
    return None


def row(model, number, parent):
    return [model.data(model.index(number, c, parent), QtCore.Qt.DisplayRole) for c in range(model.columnCount(parent))]


def rows(model, parent=ROOT, depth=0):
    """Of a tree: its depth, and its columns."""
    while model.canFetchMore(parent):
        model.fetchMore(parent)
    for number in range(model.rowCount(parent)):
        yield depth, row(model, number, parent)
        yield from rows(model, model.index(number, 0, parent), depth + 1)


def wait_for_rows(app, model):
    """Until no rows came for some time; a table is read by another process."""
    seen, since, begun = -1, time.monotonic(), time.monotonic()
    while time.monotonic() - begun < 60 and (time.monotonic() - since < 2 or seen <= 0):
        app.processEvents()
        time.sleep(0.02)
        if model.rowCount(ROOT) != seen:
            seen, since = model.rowCount(ROOT), time.monotonic()


def show(app, main, area, name):
    before = area.subWindowList()
    action(main.menuBar(), WINDOWS[name]).trigger()
    window = next(w for w in area.subWindowList() if w not in before)
    view = window.findChild(QtWidgets.QTreeView)
    model = view.model()
    wait_for_rows(app, model)
    header = [str(model.headerData(c, QtCore.Qt.Horizontal, QtCore.Qt.DisplayRole)).strip() for c in range(model.columnCount(ROOT))]
    if FOLDER:
        view.expandToDepth(3)
        window.showMaximized()
        app.processEvents()
        main.grab().save(str(Path(FOLDER) / f"{name}.png"))
    flat = name == "branches"
    found = [(0, row(model, n, ROOT)) for n in range(model.rowCount(ROOT))] if flat else rows(model)
    return [{"depth": depth} | dict(zip(header, columns)) for depth, columns in found]


def event_loop(*_):
    app = QtWidgets.QApplication.instance()
    main = next(w for w in app.topLevelWidgets() if isinstance(w, QtWidgets.QMainWindow))
    main.resize(1200, 800)
    main.show()
    area = main.findChild(QtWidgets.QMdiArea)
    print(json.dumps({name: show(app, main, area, name) for name in WINDOWS}, default=str), flush=True)
    os._exit(0)  # without waiting for the viewer's own processes


QtWidgets.QApplication.exec_ = event_loop
sys.path.insert(0, os.path.dirname(VIEWER))
sys.argv = [VIEWER, DATABASE]
runpy.run_path(VIEWER, run_name="__main__")
