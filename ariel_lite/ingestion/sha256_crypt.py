"""SHA-256 crypt ("$5$") as Ulrich Drepper's public-domain specification has it; the ELOG wants passwords in it."""

from __future__ import annotations

import hashlib

ROUNDS = 5000
_ALPHABET = "./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_GROUPS = (
    (0, 10, 20), (21, 1, 11), (12, 22, 2), (3, 13, 23), (24, 4, 14), (15, 25, 5), (6, 16, 26), (27, 7, 17),
    (18, 28, 8), (9, 19, 29),
)  # fmt: skip


def sha256_crypt(password: str, salt: str = "") -> str:
    """The 43 characters of the digest, after 5,000 rounds; without the `$5$salt$` before them."""
    secret, spice = password.encode("utf-8"), salt.encode("utf-8")[:16]
    mixed = _mixed(secret, spice)
    secrets = _stretched(hashlib.sha256(secret * len(secret)).digest(), len(secret))
    spices = _stretched(hashlib.sha256(spice * (16 + mixed[0])).digest(), len(spice))
    digest = mixed
    for number in range(ROUNDS):
        odd = number % 2 == 1
        parts = [secrets if odd else digest]
        if number % 3:
            parts.append(spices)
        if number % 7:
            parts.append(secrets)
        parts.append(digest if odd else secrets)
        digest = hashlib.sha256(b"".join(parts)).digest()
    return _encoded(digest)


def _mixed(secret: bytes, spice: bytes) -> bytes:
    other = hashlib.sha256(secret + spice + secret).digest()
    whole = hashlib.sha256(secret + spice + _stretched(other, len(secret)))
    bits = len(secret)
    while bits:
        whole.update(other if bits & 1 else secret)
        bits >>= 1
    return whole.digest()


def _stretched(digest: bytes, length: int) -> bytes:
    return (digest * (length // len(digest) + 1))[:length]


def _encoded(digest: bytes) -> str:
    letters = [_letters(digest[a] << 16 | digest[b] << 8 | digest[c], 4) for a, b, c in _GROUPS]
    return "".join(letters) + _letters(digest[31] << 8 | digest[30], 3)


def _letters(value: int, count: int) -> str:
    return "".join(_ALPHABET[value >> 6 * place & 0x3F] for place in range(count))
