"""Scan evidence: what ruff, radon and bandit say of the files that a candidate changed."""

from harness.scan.scanner import MemoryCache, Runner, ScanCache, Scanner

__all__ = ["MemoryCache", "Runner", "ScanCache", "Scanner"]
