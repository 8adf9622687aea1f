"""Admission: whether a task may stand in a suite, proved clause by clause in real containers.

``check.py`` is the list of the clauses; each is a module of its own. ``docs/admission.md`` says what each asks.
"""
