"""Seed records of format 1 into format 2 and back."""

from typing import Any

Record = dict[str, Any]

OLD_KEYS = ("sown", "grams")
NEW_KEYS = ("sowing", "weight")


def upgrade(record: Record) -> Record:
    """A record of format 1 as one of format 2."""
    if record.get("version") != 1:
        raise ValueError("not a record of format 1")
    result: Record = {"version": 2, "name": split_name(record["name"])}
    if record.get("sown"):
        result["sowing"] = split_sown(record["sown"])
    if record.get("grams"):
        result["weight"] = split_grams(record["grams"])
    return result


def downgrade(record: Record) -> Record:
    """A record of format 2 as one of format 1."""
    if record.get("version") != 2:
        raise ValueError("not a record of format 2")
    result: Record = {"version": 1, "name": join_name(record["name"])}
    if record.get("sowing"):
        result["sown"] = join_sown(record["sowing"])
    if record.get("weight"):
        result["grams"] = join_grams(record["weight"])
    return result


def split_name(name: str) -> Record:
    species, _, variety = name.rpartition(", ")
    return {"species": species, "variety": variety}


def join_name(name: Record) -> str:
    return f"{name['species']}, {name['variety']}"


def split_sown(sown: str) -> Record:
    first, _, last = sown.partition("/")
    return {"from": first, "to": last}


def join_sown(sowing: Record) -> str:
    return f"{sowing['from']}/{sowing['to']}"


def split_grams(grams: str) -> Record:
    return {"milligrams": int(float(grams) * 1000), "places": 1}


def join_grams(weight: Record) -> str:
    return str(weight["milligrams"] / 1000)
