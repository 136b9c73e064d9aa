# SPDX-License-Identifier: MIT
"""A stand-in for Qt's SQL classes, on Python's sqlite3, for perf's export-to-sqlite.py."""
import sqlite3

_databases = {}


class _Error:
    def __init__(self, error):
        self.error = error

    def isValid(self):
        return self.error is not None

    def text(self):
        return str(self.error)


class QSqlDatabase:
    error = None

    @classmethod
    def addDatabase(cls, driver, name="default"):
        assert driver == "QSQLITE"
        return _databases.setdefault(name, cls())

    def setDatabaseName(self, name):
        self.name = name

    def open(self):
        self.connection = sqlite3.connect(self.name, isolation_level=None)
        return True

    def close(self):
        self.connection.close()

    def lastError(self):
        return _Error(self.error)


class QSqlQuery:
    def __init__(self, database=None):
        self.database = database or _databases["default"]
        self.error, self.sql, self.values = None, None, []

    def _run(self, sql, values=()):
        try:
            self.rows = self.database.connection.execute(sql, values)
        except (sqlite3.Error, OverflowError) as error:
            self.error = error
            return False
        return True

    def prepare(self, sql):
        self.sql = sql
        return True

    def addBindValue(self, value):
        self.values.append(value)

    def exec_(self, sql=None):
        if sql is not None:
            return self._run(sql)
        values, self.values = self.values, []
        return self._run(self.sql, values)

    def next(self):
        self.row = self.rows.fetchone()
        return self.row is not None

    def value(self, i):
        return self.row[i]

    def lastError(self):
        return _Error(self.error)
