"""Chess endgame tables: ask the ones that are there, make the ones that are not.

>>> import hoffman
>>> solved = hoffman.solve("8/8/8/5k2/8/8/1Q6/K7 w - - 0 1")
>>> solved.answer.value, solved.answer.dtm
('win', 19)

A position is a board of python-chess or a FEN. Results are for the side to move, and distances are
plies, as in ``chess.gaviota``: positive if the side to move wins, negative if it loses, 0 for a
draw and where it is mated. ``docs/python.md`` of the repository tells more.
"""

from ._errors import (
    BadEnding,
    BadPosition,
    BadTable,
    Cancelled,
    CastlingRights,
    HoffmanError,
    MissingTable,
    NoAnswer,
    NotProved,
    TooLarge,
)
from ._errors import MissingTable as MissingTableError
from ._hoffman import (
    UNKNOWN_DTM,
    UNKNOWN_WDL,
    Analysis,
    Answer,
    Batch,
    Built,
    Cancel,
    Chunk,
    Chunks,
    Event,
    Made,
    MoveAnswer,
    Solved,
    Table,
    Tablebase,
    __version__,
    tables_in,
)
from ._tablebase import open_tablebase
from ._work import analyse, build, solve

__all__ = [
    "BadEnding",
    "BadPosition",
    "BadTable",
    "Cancelled",
    "CastlingRights",
    "HoffmanError",
    "MissingTable",
    "NoAnswer",
    "NotProved",
    "TooLarge",
    "UNKNOWN_DTM",
    "UNKNOWN_WDL",
    "Analysis",
    "Answer",
    "Batch",
    "Built",
    "Cancel",
    "Chunk",
    "Chunks",
    "Event",
    "Made",
    "MissingTableError",
    "MoveAnswer",
    "Solved",
    "Table",
    "Tablebase",
    "__version__",
    "analyse",
    "build",
    "open_tablebase",
    "solve",
    "tables_in",
]
