"""Pictures of answers, drawn by python-chess."""

from __future__ import annotations

from typing import List, Optional, Tuple

#: The colour of a move by its result for the side that makes it; of those that are best, and of
#: the others. They let the men be seen through: arrows to the next square cover them.
_COLOURS = {
    1: ("#1b7a1bd0", "#1b7a1b60"),
    0: ("#2f5fb3d0", "#2f5fb360"),
    -1: ("#b3261ed0", "#b3261e60"),
    None: ("#606060d0", "#60606060"),
}

#: The better result is drawn over the worse one.
_ORDER = {None: 0, -1: 1, 0: 2, 1: 3}

#: From and to which square, the result, and whether no move is better.
_Move = Tuple[int, int, Optional[int], bool]


def board(fen: str, moves: List[_Move], size: int = 360) -> Optional[str]:
    """A board with arrows for moves, or None where python-chess is not installed."""
    try:
        import chess
        import chess.svg
    except ImportError:
        return None

    placed = chess.BaseBoard(fen.split()[0])
    arrows = []
    drawn = set()
    # A pawn that promotes has several moves with the same squares: the best one is shown.
    for origin, target, wdl, best in sorted(moves, key=lambda move: (not move[3], -_ORDER[move[2]])):
        if (origin, target) in drawn:
            continue
        drawn.add((origin, target))
        arrows.append(chess.svg.Arrow(origin, target, color=_COLOURS[wdl][0 if best else 1]))
    arrows.reverse()
    return str(chess.svg.board(placed, arrows=arrows, size=size))
