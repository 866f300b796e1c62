"""PostgreSQL's jsonb and text[] on SQLite, where both are JSON texts. Pure functions over texts.

Bad JSON raises ValueError. A SQL NULL never reaches these functions.
"""

from __future__ import annotations

import json
from typing import Any

JsonValue = str | int | float | bool | list[Any] | dict[str, Any] | None


def canonical(value: JsonValue) -> str:
    """jsonb's text: keys by length and then by bytes, a blank after colons and commas."""
    return json.dumps(_ordered(value), ensure_ascii=False)


def array(elements: list[Any]) -> str:
    """A text[] as SQLite keeps it: JSON without blanks, as SQLite's own json() writes it."""
    return json.dumps(elements, ensure_ascii=False, separators=(",", ":"))


def to_json(text: str) -> str:
    """A text as jsonb.

    Raises:
        ValueError: the text is not JSON.
    """
    return canonical(_load(text))


def member(text: str, key: str | int) -> str | None:
    """`text -> key`: a member of an object or array as JSON, None when there is none."""
    found, value = _member(_load(text), key)
    return canonical(value) if found else None


def member_text(text: str, key: str | int) -> str | None:
    """`text ->> key`: a member as text."""
    found, value = _member(_load(text), key)
    return as_text(value) if found else None


def at_path(text: str, *path: str) -> str | None:
    """`text #> path`: what a path leads to, as JSON."""
    found, value = _walk(text, path)
    return canonical(value) if found else None


def at_path_text(text: str, *path: str) -> str | None:
    """`text #>> path`: what a path leads to, as text."""
    found, value = _walk(text, path)
    return as_text(value) if found else None


def has_key(text: str, key: str) -> bool:
    """`text ? key`."""
    value = _load(text)
    return value == key if isinstance(value, str) else key in value if isinstance(value, dict | list) else False


def contains(text: str, part: str) -> bool:
    """`text @> part` for jsonb."""
    return _contains(_load(text), _load(part), top=True)


def array_contains(text: str, part: str) -> bool:
    """`array @> part`: every element of the second is in the first."""
    elements = read_array(text)
    return all(element in elements for element in read_array(part))


def array_overlaps(text: str, other: str) -> bool:
    """`array && other`: they share an element."""
    elements = read_array(text)
    return any(element in elements for element in read_array(other))


def array_literal(text: str) -> str:
    """PostgreSQL's array text `{a,"b c",NULL}` as a JSON array of texts.

    Raises:
        ValueError: not such a text, or an array of arrays.
    """
    body = text.strip()
    if not (body.startswith("{") and body.endswith("}")) or "{" in body[1:]:
        raise ValueError(f'malformed array literal: "{text[:60]}"')
    return array(_split_array(body[1:-1]))


def array_text(text: str) -> str:
    """A JSON array as PostgreSQL's array text."""
    return "{" + ",".join(_quoted(element) for element in read_array(text)) + "}"


def array_length(text: str) -> int | None:
    """array_length(array, 1): None for an empty one."""
    return len(read_array(text)) or None


def array_element(text: str, number: int) -> Any:
    """array[number], counted from 1; None outside."""
    elements = read_array(text)
    return elements[number - 1] if 0 < number <= len(elements) else None


def array_position(text: str, wanted: Any) -> int | None:
    """The number of the first equal element, counted from 1."""
    elements = read_array(text)
    return elements.index(wanted) + 1 if wanted in elements else None


def array_to_string(text: str, separator: str, null: str | None = None) -> str:
    """The elements joined; NULL elements are left out, or written as `null`."""
    elements = [null if element is None else element for element in read_array(text)]
    return separator.join(as_text(element) or "" for element in elements if element is not None)


def string_to_array(text: str, separator: str) -> str:
    """A text split at a separator, as a JSON array."""
    if not text:
        return "[]"
    return array(text.split(separator) if separator else [text])


def length(text: str) -> int:
    """jsonb_array_length.

    Raises:
        ValueError: not an array.
    """
    return len(read_array(text))


def type_name(text: str) -> str:
    """jsonb_typeof."""
    names = {dict: "object", list: "array", str: "string", bool: "boolean", type(None): "null"}
    return names.get(type(_load(text)), "number")


def elements(text: str) -> str:
    """The elements of a jsonb array, each as JSON text, in a JSON array that json_each unfolds."""
    return json.dumps([canonical(element) for element in read_array(text)], ensure_ascii=False)


def elements_text(text: str) -> str:
    """The elements of a jsonb array, each as text."""
    return json.dumps([as_text(element) for element in read_array(text)], ensure_ascii=False)


def members(text: str) -> str:
    """The members of an object, each as JSON text."""
    return json.dumps({key: canonical(value) for key, value in _object(text).items()}, ensure_ascii=False)


def members_text(text: str) -> str:
    """The members of an object, each as text."""
    return json.dumps({key: as_text(value) for key, value in _object(text).items()}, ensure_ascii=False)


def keys(text: str) -> str:
    """The keys of an object as a JSON array."""
    return json.dumps(list(_object(text)), ensure_ascii=False)


def as_text(value: JsonValue) -> str | None:
    """A JSON value as `->>` gives it."""
    if value is None or isinstance(value, str):
        return value
    return canonical(value)


def _load(text: str) -> JsonValue:
    try:
        value: JsonValue = json.loads(text)
        return value
    except (ValueError, TypeError) as error:
        raise ValueError(f'invalid input syntax for type json: "{str(text)[:60]}"') from error


def read_array(text: str) -> list[Any]:
    """The elements of a JSON array.

    Raises:
        ValueError: not an array.
    """
    value = _load(text)
    if not isinstance(value, list):
        raise ValueError("the JSON value is not an array")
    return value


def _object(text: str) -> dict[str, Any]:
    value = _load(text)
    if not isinstance(value, dict):
        raise ValueError("the JSON value is not an object")
    ordered: dict[str, Any] = _ordered(value)  # type: ignore[assignment]
    return ordered


def _ordered(value: JsonValue) -> JsonValue:
    if isinstance(value, list):
        return [_ordered(element) for element in value]
    if isinstance(value, dict):
        names = sorted(value, key=lambda name: (len(name.encode()), name.encode()))
        return {name: _ordered(value[name]) for name in names}
    return value


def _member(value: JsonValue, key: str | int) -> tuple[bool, JsonValue]:
    if isinstance(value, dict) and isinstance(key, str) and key in value:
        return True, value[key]
    if isinstance(value, list) and isinstance(key, int) and -len(value) <= key < len(value):
        return True, value[key]
    return False, None


def _walk(text: str, path: tuple[str, ...]) -> tuple[bool, JsonValue]:
    value = _load(text)
    for step in path:
        number = isinstance(value, list) and step.lstrip("-").isdigit()
        found, value = _member(value, int(step) if number else step)
        if not found:
            return False, None
    return True, value


def _contains(value: JsonValue, part: JsonValue, *, top: bool = False) -> bool:
    if isinstance(value, dict) and isinstance(part, dict):
        return all(key in value and _contains(value[key], part[key]) for key in part)
    if isinstance(value, list) and isinstance(part, list):
        return all(any(_contains(element, wanted) for element in value) for wanted in part)
    if isinstance(value, list) and top and not isinstance(part, dict):
        return part in value
    return (type(value) is type(part) and value == part) or _same_number(value, part)


def _same_number(value: JsonValue, part: JsonValue) -> bool:
    numbers = (int, float)
    booleans = isinstance(value, bool) or isinstance(part, bool)
    return isinstance(value, numbers) and isinstance(part, numbers) and not booleans and value == part


def _split_array(body: str) -> list[str | None]:
    elements: list[str | None] = []
    position = 0
    while position < len(body):
        start = position
        if body[position] == '"':
            position += 1
            text = ""
            while position < len(body) and body[position] != '"':
                position += body[position] == "\\"
                text += body[position : position + 1]
                position += 1
            elements.append(text)
            position = body.find(",", position)
        else:
            position = body.find(",", position)
            word = body[start : position if position >= 0 else len(body)].strip()
            elements.append(None if word.upper() == "NULL" else word)
        if position < 0:
            break
        position += 1
    return elements


def _quoted(element: Any) -> str:
    if element is None:
        return "NULL"
    text = as_text(element) or ""
    plain = text and text.upper() != "NULL" and not any(c in '{},"\\' or c.isspace() for c in text)
    return text if plain else '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
