"""What the tests share: tables built for them, random positions, Syzygy tables if there are any."""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Iterator, List

import chess
import pytest

import hoffman

#: With pieces and pawns, pawns of both sides, en passant, promotions, and drawn endings.
ENDINGS = ["KQvKR", "KRvKN", "KPvKP", "KBNvK"]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--positions", type=int, default=2000, help="random positions to compare")


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All tables behind ENDINGS."""
    path = tmp_path_factory.mktemp("tables")
    hoffman.build(ENDINGS, dir=path, hbf=False)
    return path


@pytest.fixture(scope="session")
def tables(folder: Path) -> Iterator[hoffman.Tablebase]:
    with hoffman.open_tablebase(folder) as opened:
        yield opened


@pytest.fixture(scope="session")
def positions(request: pytest.FixtureRequest) -> List[chess.Board]:
    """Random positions of ENDINGS and of what they lead to."""
    draw = random.Random(17)
    count = request.config.getoption("--positions")
    return [random_position(draw, ENDINGS[n % len(ENDINGS)]) for n in range(count)]


def random_position(draw: random.Random, ending: str) -> chess.Board:
    """A legal position of an ending, every other time with a move played."""
    while True:
        board = chess.Board(None)
        men = [letter for side in ending.split("v") for letter in side]
        colours = [chess.WHITE] * ending.index("v") + [chess.BLACK] * (len(men) - ending.index("v"))
        if draw.random() < 0.5:
            colours = [not colour for colour in colours]
        squares = draw.sample(chess.SQUARES, len(men))
        passing = ending == "KPvKP" and draw.random() < 0.25
        if passing:
            # A pawn at home, and one beside the square that it jumps to.
            file = draw.randrange(1, 7)
            ranks = (1, 3) if colours[1] == chess.WHITE else (6, 4)
            squares[1] = chess.square(file, ranks[0])
            squares[3] = chess.square(file + draw.choice((-1, 1)), ranks[1])
            if len(set(squares)) < len(squares):
                continue
        for letter, colour, square in zip(men, colours, squares):
            board.set_piece_at(square, chess.Piece(chess.PIECE_SYMBOLS.index(letter.lower()), colour))
        board.turn = colours[1] if passing else draw.random() < 0.5
        if not board.is_valid():
            continue
        moves = list(board.legal_moves)
        if passing:
            moves = [move for move in moves if move.from_square == squares[1] and abs(move.to_square - squares[1]) == 16]
        if moves and (passing or draw.random() < 0.5):
            board.push(draw.choice(moves))
        return board


@pytest.fixture(scope="session")
def syzygy() -> Path:
    """The Syzygy tables of three and four men."""
    named = os.environ.get("HOFFMAN_SYZYGY")
    if named is None:
        pytest.skip("HOFFMAN_SYZYGY names no folder of Syzygy tables: NOTHING IS COMPARED WITH THEM")
    path = Path(named)
    assert list(path.glob("*.rtbw")), f"HOFFMAN_SYZYGY={named} has no Syzygy tables"
    return path
