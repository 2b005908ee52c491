"""Folders of tables that answer positions."""

from __future__ import annotations

import os
from typing import Any, Iterable, Optional, Protocol, Union

from . import _hoffman
from ._hoffman import Answer, MoveAnswer, Tablebase


class HasFen(Protocol):
    """What has a FEN, as the boards of python-chess."""

    def fen(self) -> str: ...


#: A board of python-chess, a FEN, or the position of an answer.
Position = Union[str, HasFen, Answer, MoveAnswer]

#: The path of a folder or a file.
Folder = Union[str, "os.PathLike[str]"]


def open_tablebase(
    directory: Union[Folder, Iterable[Folder]] = (),
    *,
    syzygy: Union[Folder, Iterable[Folder]] = (),
    cache: Optional[int] = None,
) -> Tablebase:
    """Opens the tables of one or several folders, to be asked in this order.

    :param directory: Folders of tables (``.htb``, ``.hbf``).
    :param syzygy: Folders of Syzygy tables, which are asked where no table of ours has a position:
        they say who wins, but not when.
    :param cache: How many bytes of unpacked tables are held; 64 MB if nothing is said.
    :raises BadTable: A folder cannot be read.
    """
    return _hoffman.open_folders(_several(directory), _several(syzygy), cache)


def _several(folders: Any) -> Any:
    return [folders] if isinstance(folders, (str, os.PathLike)) else list(folders)
