"""The command."""

import argparse
import csv
import sys
from pathlib import Path

from parcelgrid.quote import NoQuote, quote
from parcelgrid.tariff import TariffError, read_tariff

COLUMNS = ("ref", "postcode", "date", "weight", "length", "width", "height")


def main(argv: list[str] | None = None) -> int:
    """Run it; the exit status."""
    parser = argparse.ArgumentParser(prog="parcelgrid")
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("quote", help="quote a list of parcels")
    one.add_argument("parcels", type=Path)
    one.add_argument("--tariff", type=Path, required=True)
    options = parser.parse_args(argv)
    try:
        tariff = read_tariff(options.tariff.read_text(encoding="utf-8"))
        parcels = _parcels(options.parcels)
    except (OSError, TariffError, ValueError) as error:
        print(f"parcelgrid: {error}", file=sys.stderr)
        return 2
    failed = False
    for parcel in parcels:
        try:
            made = quote(tariff, parcel)
        except NoQuote as why:
            print(f"{parcel['ref']},error,{why}")
            failed = True
            continue
        named = ";".join(f"{code}={cents}" for code, cents in made.surcharges) or "-"
        print(f"{parcel['ref']},{made.zone},{made.billable_g},{made.freight},{named},{made.total}")
    return int(failed)


def _parcels(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file)
        if tuple(rows.fieldnames or ()) != COLUMNS:
            raise ValueError(f"{path}: the header is not {','.join(COLUMNS)}")
        return [{name: value or "" for name, value in row.items()} for row in rows]
