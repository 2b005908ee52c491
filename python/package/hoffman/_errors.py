"""What can go wrong, with a code for each that does not change."""

from __future__ import annotations

from typing import Dict, Type


class HoffmanError(Exception):
    """The base of all errors of this package."""

    #: A code that programs can rely on: it stays the same where the words change.
    code: str

    def __init__(self, message: str, code: str = "failed") -> None:
        super().__init__(message, code)
        self.code = code

    def __str__(self) -> str:
        return str(self.args[0])


class NoAnswer(HoffmanError, KeyError):
    """The tables do not tell; ``get_dtm`` and ``get_wdl`` return their default instead."""


class MissingTable(NoAnswer):
    """No table has the position (``no-table``). It does not mean that it is a draw."""


class NotProved(NoAnswer):
    """The table proves no result (``not-proved``), or no distance (``no-distance``)."""


class BadPosition(HoffmanError, ValueError):
    """A text that is no position (``bad-fen``, ``bad-move``), or a position that cannot be
    (``impossible-position``)."""


class CastlingRights(BadPosition, NoAnswer):
    """The position has castling rights, which tables do not know (``castling``)."""


class BadEnding(HoffmanError, ValueError):
    """A text that names no ending (``bad-ending``)."""


class BadTable(HoffmanError):
    """A table is damaged (``damaged-table``), is of other rules than the rest
    (``mixed-variants``), or there is no such file (``not-found``) or folder (``bad-folder``)."""


class TooLarge(HoffmanError):
    """More memory or disk is needed than there is (``too-large``)."""


class Cancelled(HoffmanError):
    """The work was cancelled (``cancelled``); the same call goes on where it stopped."""


_BY_CODE: Dict[str, Type[HoffmanError]] = {
    "no-table": MissingTable,
    "not-proved": NotProved,
    "no-distance": NotProved,
    "bad-fen": BadPosition,
    "bad-move": BadPosition,
    "impossible-position": BadPosition,
    "castling": CastlingRights,
    "bad-ending": BadEnding,
    "damaged-table": BadTable,
    "mixed-variants": BadTable,
    "not-found": BadTable,
    "bad-folder": BadTable,
    "too-large": TooLarge,
    "cancelled": Cancelled,
}


def make(code: str, message: str) -> HoffmanError:
    """The exception of a code."""
    return _BY_CODE.get(code, HoffmanError)(message, code)

