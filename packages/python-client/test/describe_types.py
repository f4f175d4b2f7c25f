"""Prints the fields of the client's types as JSON: for each TypedDict, its required and its optional ones."""

import json

from bridge_client import events, wire


def fields_of(module: object) -> dict[str, dict[str, list[str]]]:
    return {
        name: {"required": sorted(value.__required_keys__), "optional": sorted(value.__optional_keys__)}
        for name, value in vars(module).items()
        if hasattr(value, "__required_keys__")
    }


print(json.dumps({**fields_of(wire), **fields_of(events)}))
