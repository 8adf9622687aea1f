"""A provider that answers by a script: four wire formats, tool calls, faults on command, and its own truth of tokens.

It is for dry runs, and for anybody who writes a solver. docs/scripted-provider.md documents the script files.
"""
