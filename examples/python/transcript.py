"""Reads transcripts and compares events."""
from google.protobuf.json_format import MessageToDict, Parse
from gridstand.v1.game_pb2 import WatchResponse


def read(path):
    """Return the events of a file that has one WatchResponse in JSON per line."""
    with open(path, encoding="utf-8") as lines:
        updates = [Parse(line, WatchResponse(), ignore_unknown_fields=True) for line in lines if line.strip()]
    return [update.event for update in updates if update.HasField("event")]


def difference(got, want):
    """Describe the first field of a message that differs; return "" if none does."""
    return _difference(_plain(MessageToDict(got)), _plain(MessageToDict(want)), "")


def _plain(value, name=""):
    """Sort the lists whose order the contract leaves open."""
    if isinstance(value, dict):
        return {key: _plain(item, key) for key, item in value.items()}
    if isinstance(value, list):
        items = [_plain(item) for item in value]
        return sorted(items, key=str) if name in ("legalMoves", "taken", "winners") else items
    return value


def _difference(got, want, path):
    if isinstance(got, dict) and isinstance(want, dict):
        pairs = [(f"{path}.{key}", got.get(key), want.get(key)) for key in sorted({**got, **want})]
    elif isinstance(got, list) and isinstance(want, list) and len(got) == len(want):
        pairs = [(f"{path}[{i}]", *pair) for i, pair in enumerate(zip(got, want))]
    else:
        return "" if got == want else f"{path.lstrip('.')} is {got}, recomputed {want}"
    return next(filter(None, (_difference(a, b, where) for where, a, b in pairs)), "")
