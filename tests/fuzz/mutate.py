"""Changes of bytes at random: of the kind that bad disks, bad programs and bad people make."""

from __future__ import annotations

import random
import re

# What readers of numbers, headers and quotes trip over.
_TOKENS = (b"", b"-1", b"0", b"1", b"+3", b"1.5", b"1e3", b"nan", b"inf", b"4294967295", b"4294967296", b"2147483648",
           b"9223372036854775807", b"9223372036854775808", b"18446744073709551616", b"9" * 40, b"9" * 5000, b"0x10",
           b"\"", b"\"\"", b",", b"\t", b"\n", b"\r", b"\r\n", b"\n\n\n", b" " * 50, b"%", b"#", b"p edge", b"a 1 2 3",
           b"e 1 2",
           b"%%MatrixMarket matrix coordinate pattern symmetric\n", b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b"\xc3\x28",
           "é".encode(), b"src,dst\n", b"1 2\n", b"PK\x03\x04", b"PAR1", b"\x1f\x8b", b"BZh9")
_WORD = re.compile(rb"[0-9A-Za-z.+-]+")


def mutated(data: bytes, rng: random.Random, most: int = 5) -> bytes:
    """`data` after 1 to `most` changes."""
    for _ in range(rng.choice((1, 1, 1, 2, 3, most))):
        data = rng.choice(_CHANGES)(data, rng)
    return data


def _flip(data: bytes, rng: random.Random) -> bytes:
    if not data:
        return data
    at = rng.randrange(len(data))
    return data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :]


def _overwrite(data: bytes, rng: random.Random) -> bytes:
    at, count = rng.randint(0, len(data)), rng.choice((1, 2, 4, 8))
    return data[:at] + rng.choice((b"\x00", b"\xff", b"\x7f", rng.randbytes(1))) * count + data[at + count :]


def _drop(data: bytes, rng: random.Random) -> bytes:
    at = rng.randint(0, len(data))
    return data[:at] + data[at + rng.choice((1, 1, 2, 5, 20)) :]


def _cut(data: bytes, rng: random.Random) -> bytes:
    return data[: rng.randint(0, len(data))]


def _again(data: bytes, rng: random.Random) -> bytes:
    at, begin = rng.randint(0, len(data)), rng.randint(0, len(data))
    return data[:at] + data[begin : begin + rng.randint(1, 30)] + data[at:]


def _insert(data: bytes, rng: random.Random) -> bytes:
    at = rng.randint(0, len(data))
    return data[:at] + rng.choice(_TOKENS) + data[at:]


def _word(data: bytes, rng: random.Random) -> bytes:
    words = list(_WORD.finditer(data))
    if not words:
        return _insert(data, rng)
    word = rng.choice(words)
    return data[: word.start()] + rng.choice(_TOKENS) + data[word.end() :]


def _lines(data: bytes, rng: random.Random) -> bytes:
    lines = data.split(b"\n")
    i, j = rng.randrange(len(lines)), rng.randrange(len(lines))
    lines[i], lines[j] = lines[j], lines[i]
    return b"\n".join(lines)


_CHANGES = (_flip, _flip, _overwrite, _drop, _cut, _again, _insert, _word, _word, _lines)
