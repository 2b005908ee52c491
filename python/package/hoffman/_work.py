"""Solving, building, analyses: what takes long."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any, Callable, Dict, Iterable, Literal, Optional, Union

from . import _hoffman
from ._errors import HoffmanError
from ._hoffman import Analysis, Built, Cancel, Event, Solved
from ._tablebase import Folder, Position

#: Is told what happens, in the thread of the caller; an exception that it raises ends the work.
Progress = Callable[[Event], Any]

#: An ending (``KRPvKR``), all endings of so many men (``4``), or a control file (``x.xml``).
Target = Union[str, int, "os.PathLike[str]"]

#: What files of the block format have: both sides to move, or one that leans on other tables. A union, because stubtest
#: takes the alias of one literal type for something else than what it sees when it runs.
Profile = Union[Literal["fast"], Literal["small"], Literal["smallest"], Literal["paired"]]

#: Whether tables of endings have who wins: apart from the distances, too, or ``"only"``.
Outcomes = Union[bool, Literal["only"]]

_TEXT = "the control file"


def solve(
    board: Position,
    *,
    dir: Optional[Folder] = None,
    memory: Optional[int] = None,
    threads: int = 0,
    progress: Optional[Progress] = None,
    cancel: Optional[Cancel] = None,
) -> Solved:
    """Answers a position, and makes what is missing for it.

    :param board: A board of python-chess, or a FEN.
    :param dir: The folder of the tables: those that are there are used, and those that are made are
        written. Without one nothing is written, and the answer has its tables in memory.
    :param memory: The most bytes that the process may take; what does not fit goes to the disk.
    :param threads: On so many threads; 0 for one a core.
    :param progress: Is called with every :class:`Event`, in this thread.
    :param cancel: Stops the work from another thread.
    :raises TooLarge: No machine holds all that the position leads to, or this one does not.
    :raises Cancelled: ``cancel`` was asked for.
    """
    return _hoffman.solve_position(
        board,
        _settings("solve", dir, memory, threads, progress, cancel, _files()),
    )


def build(
    targets: Union[Target, Iterable[Target]],
    *,
    dir: Folder,
    memory: Optional[int] = None,
    threads: int = 0,
    hbf: bool = True,
    profile: Optional[Profile] = None,
    outcomes: Outcomes = False,
    progress: Optional[Progress] = None,
    cancel: Optional[Cancel] = None,
) -> Built:
    """Makes tables with all that they depend on, and keeps what is there and intact.

    :param targets: One or several of: an ending (``"KRPvKR"``), all endings of two to so many men
        (``4``), a control file (``"x.xml"``).
    :param hbf: Whether tables of endings are written in the block format, which is many times smaller, or in that of
        the original program.
    :param profile: What files of the block format have: ``"small"``, if nothing is said, one side to move, which leans on
        the tables behind captures and promotions; ``"smallest"``, the same in a seventh less and several times as long;
        ``"paired"``, both sides, leaning on them; or ``"fast"``, both sides, alone.
    :param outcomes: Whether such files have who wins apart from the distances, too; or ``"only"``: tables of endings have
        who wins and no distances, in either format.

    The others are as for :func:`solve`. After it was interrupted, the same call goes on.

    :raises BadEnding: A text that names no ending.
    :raises TooLarge: Something does not fit into memory or onto the disk.
    :raises Cancelled: ``cancel`` was asked for.
    """
    several = [targets] if isinstance(targets, (str, int, os.PathLike)) else list(targets)
    return _hoffman.build_targets(
        several,
        _settings("build", dir, memory, threads, progress, cancel, _files(hbf, profile, outcomes)),
    )


def analyse(
    control: Folder,
    *,
    dir: Optional[Folder] = None,
    memory: Optional[int] = None,
    threads: int = 0,
    progress: Optional[Progress] = None,
    cancel: Optional[Cancel] = None,
) -> Analysis:
    """Makes the tables of a control file and opens them; those that are current are kept.

    :param control: The path of a control file, or its text, which begins with ``<``.
    :param dir: Where tables go, and where the tables that it names are looked for, too. Without
        one they go where the control file says; those of a text into the current folder.

    The others are as for :func:`solve`.
    """
    if not (isinstance(control, str) and control.lstrip("\ufeff \t\r\n").startswith("<")):
        settings = _settings("analyse", dir, memory, threads, progress, cancel, _files())
        return _hoffman.analyse_file(control, settings)

    with tempfile.TemporaryDirectory(prefix="hoffman-") as folder:
        path = Path(folder) / "control.xml"
        # With the mark, the text counts as UTF-8 whatever it says of itself.
        path.write_text(control.lstrip("\ufeff \t\r\n"), encoding="utf-8-sig")
        settings = _settings("analyse", dir or ".", memory, threads, progress, cancel, _files())
        try:
            return _hoffman.analyse_file(path, settings)
        except HoffmanError as error:
            text = str(error).replace(str(path), _TEXT)
            raise type(error)(text, error.code) from None


def _files(hbf: bool = True, profile: Optional[Profile] = None, outcomes: Outcomes = False) -> Dict[str, Any]:
    content = "outcomes" if outcomes == "only" else "both" if outcomes else "distances"
    return {"hbf": hbf, "profile": profile, "content": content}


def _settings(
    name: str,
    dir: Optional[Folder],
    memory: Optional[int],
    threads: int,
    progress: Optional[Progress],
    cancel: Optional[Cancel],
    files: Dict[str, Any],
) -> Dict[str, Any]:
    return {
        "dir": dir,
        "memory": memory,
        "threads": threads,
        **files,
        "progress": progress,
        "cancel": cancel,
        "program": f"python: hoffman.{name}",
    }
