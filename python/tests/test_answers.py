"""Answers against python-chess: its reader of Syzygy tables, and a walk over its moves."""

from __future__ import annotations

from pathlib import Path
from typing import List, Tuple

import chess
import chess.syzygy
import numpy as np
import pytest

import hoffman


def sign(number: int) -> int:
    return (number > 0) - (number < 0)


def test_results_are_those_of_syzygy_tables(
    tables: hoffman.Tablebase, positions: List[chess.Board], syzygy: Path
) -> None:
    seen = {-1: 0, 0: 0, 1: 0}
    with chess.syzygy.open_tablebase(str(syzygy)) as others:
        for board in positions:
            if board.is_game_over():
                continue
            # A win that the fifty-move rule spoils is one without that rule.
            expected = sign(others.probe_wdl(board))
            assert tables.probe_wdl(board) == expected, board.fen()
            seen[expected] += 1
    assert all(count > len(positions) / 50 for count in seen.values()), seen


def walked(tables: hoffman.Tablebase, board: chess.Board) -> Tuple[int, int]:
    """Result and distance by the moves of python-chess and the answers behind them."""
    if board.is_checkmate():
        return -1, 0
    if board.is_stalemate() or board.is_insufficient_material():
        return 0, 0
    moves = []
    for move in board.legal_moves:
        board.push(move)
        wdl, dtm = tables.probe_wdl(board), tables.probe_dtm(board)
        board.pop()
        moves.append((-wdl, abs(dtm) + 1))
    best = max(wdl for wdl, _ in moves)
    plies = [plies for wdl, plies in moves if wdl == best]
    return best, {1: min(plies), 0: 0, -1: -max(plies)}[best]


def test_distances_are_one_more_than_those_of_the_best_move(
    tables: hoffman.Tablebase, positions: List[chess.Board]
) -> None:
    longest = 0
    for board in positions:
        wdl, dtm = walked(tables, board)
        assert (tables.probe_wdl(board), tables.probe_dtm(board)) == (wdl, dtm), board.fen()
        longest = max(longest, abs(dtm))
    assert longest > 40


def test_en_passant_is_among_the_positions(positions: List[chess.Board]) -> None:
    count = sum(board.has_legal_en_passant() for board in positions)
    assert count > len(positions) / 50


def test_boards_and_fens_are_the_same(tables: hoffman.Tablebase, positions: List[chess.Board]) -> None:
    for board in positions[:200]:
        answer, again = tables.probe(board), tables.probe(board.fen())
        assert (answer.value, answer.dtm, answer.index) == (again.value, again.dtm, again.index)
        # What an answer and a move call their position can be asked for, too.
        assert tables.probe(answer).index == answer.index


def test_batches_are_single_answers(tables: hoffman.Tablebase, positions: List[chess.Board]) -> None:
    mixed: List[object] = [board if n % 2 else board.fen() for n, board in enumerate(positions)]
    # Nonsense, castling rights, and a table that is not there.
    wrong = ["nonsense", "4k3/8/8/8/8/8/8/4K2R w K - 0 1", "8/8/8/4k3/8/8/2KR2b1/7q w - - 0 1"]
    mixed[5:5] = wrong
    batch = tables.probe_batch(iter(mixed))  # type: ignore[arg-type]
    assert len(batch) == len(mixed) == batch.wdl.size == batch.dtm.size
    assert batch.wdl.dtype == np.int8 and batch.dtm.dtype == np.int32
    codes = {place: error.code for place, error in batch.errors.items()}
    assert codes == {5: "bad-fen", 6: "castling", 7: "no-table"}
    for place, position in enumerate(mixed):
        if place in codes:
            assert batch.wdl[place] == hoffman.UNKNOWN_WDL
            assert batch.dtm[place] == hoffman.UNKNOWN_DTM
        else:
            assert batch.wdl[place] == tables.probe_wdl(position)  # type: ignore[arg-type]
            assert batch.dtm[place] == tables.probe_dtm(position)  # type: ignore[arg-type]
    assert len(tables.probe_batch([])) == 0


def test_moves_are_sorted_and_count_from_before_the_move(
    tables: hoffman.Tablebase, positions: List[chess.Board]
) -> None:
    for board in positions[:300]:
        moves = tables.moves(board)
        assert {move.uci for move in moves} == {move.uci() for move in board.legal_moves}
        assert {move.san for move in moves} == {board.san(move) for move in board.legal_moves}
        if moves:
            assert (moves[0].wdl, moves[0].dtm) == (tables.probe_wdl(board), tables.probe_dtm(board))
        results = [move.wdl for move in moves]
        assert results == sorted(results, key=lambda wdl: -wdl)  # type: ignore[operator]
        for move in moves:
            assert move.error is None and move.answer is not None
            assert move.answer.wdl == -move.wdl  # type: ignore[operator]


def test_lines_lead_to_the_mate(tables: hoffman.Tablebase, positions: List[chess.Board]) -> None:
    mates = 0
    for board in positions[:300]:
        board = board.copy()
        dtm = tables.probe_dtm(board)
        for uci in tables.line(board):
            board.push_uci(uci)
        if dtm:
            assert board.is_checkmate(), board.fen()
            mates += 1
    assert mates > 50


def test_what_an_answer_says(tables: hoffman.Tablebase, folder: Path) -> None:
    answer = tables.probe("8/8/8/5k2/8/8/1Q6/K7 w - - 0 1")
    assert (answer.value, answer.wdl, answer.dtm, answer.plies) == ("win", 1, 19, 19)
    assert (answer.bound, answer.assumes, answer.end) == ("exact", [], None)
    assert tables.bound(answer.fen) == "exact"
    assert (answer.said, answer.said_dtm, answer.conversion) == ("win", 19, None)
    assert answer.table == folder / "kqk.htb" and answer.index is not None
    assert repr(answer) == "<Answer win in 19 plies, exact, by kqk.htb>"
    assert "White wins, mate in 10 moves (19 plies)" in str(answer)
    assert str(answer) == tables.report(answer.fen)
    assert len(answer.line()) == 19 and answer.moves()[0].uci == answer.line()[0]
    assert tables.variant == "chess"

    # A mate and a stalemate need no table; a distance of 0 is a mate if the result is a loss.
    with hoffman.open_tablebase() as none:
        mate = none.probe("R5k1/5ppp/8/8/8/8/8/K7 b - - 0 1")
        assert (mate.value, mate.wdl, mate.dtm, mate.end) == ("loss", -1, 0, "checkmate")
        assert (mate.table, mate.line(), mate.moves()) == (None, [], [])
        stalemate = none.probe("7k/8/5KQ1/8/8/8/8/8 b - - 0 1")
        assert (stalemate.value, stalemate.dtm, stalemate.end) == ("draw", 0, "stalemate")


def test_errors_have_classes_and_codes(tables: hoffman.Tablebase, tmp_path: Path) -> None:
    missing = "8/8/8/4k3/8/8/2KR2b1/7q w - - 0 1"
    castling = "4k3/8/8/8/8/8/8/4K2R w K - 0 1"

    def raised(kind: type, code: str, position: object) -> Exception:
        with pytest.raises(kind) as caught:
            tables.probe(position)  # type: ignore[arg-type]
        assert isinstance(caught.value, hoffman.HoffmanError) and caught.value.code == code
        return caught.value

    error = raised(hoffman.MissingTable, "no-table", missing)
    assert isinstance(error, KeyError) and str(error) == "no table has the position; kqbkr.htb would"
    error = raised(hoffman.CastlingRights, "castling", castling)
    assert isinstance(error, KeyError) and castling in str(error)
    assert isinstance(raised(hoffman.BadPosition, "bad-fen", "nonsense"), ValueError)
    raised(hoffman.BadPosition, "impossible-position", chess.Board(None))
    assert hoffman.MissingTableError is hoffman.MissingTable
    with pytest.raises(TypeError, match="a position is a FEN or a chess.Board, not int"):
        tables.probe(3)  # type: ignore[arg-type]

    # As in chess.gaviota: what is missing has a default, what is wrong has none.
    assert tables.get_dtm(missing) is None and tables.get_wdl(castling, default=7) == 7
    assert tables.get_dtm("8/8/8/5k2/8/8/1Q6/K7 w - - 0 1", None) == 19
    with pytest.raises(hoffman.BadPosition):
        tables.get_dtm("nonsense", 0)
    with pytest.raises(hoffman.BadTable) as caught:
        hoffman.open_tablebase(tmp_path / "none")
    assert caught.value.code == "bad-folder"


def test_errors_survive_pickling() -> None:
    import pickle

    error = hoffman.MissingTable("words", "no-table")
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), again.code) == (hoffman.MissingTable, "words", "no-table")


def test_a_move_without_a_table_says_why(folder: Path, tmp_path: Path) -> None:
    hoffman.build("KPvK", dir=tmp_path, hbf=False)
    (tmp_path / "krk.htb").unlink()
    with hoffman.open_tablebase(tmp_path) as tables:
        moves = {move.san: move for move in tables.moves("8/4P3/4K3/8/8/8/8/k7 w - - 0 1")}
        rook = moves["e8=R"]
        assert (rook.wdl, rook.dtm, rook.answer) == (None, None, None)
        assert isinstance(rook.error, hoffman.MissingTable) and rook.error.code == "no-table"
        assert repr(rook) == "<MoveAnswer e8=R no answer>" and moves["Kd7"].wdl == 1


def test_folders_are_added_and_closed(folder: Path, tmp_path: Path, syzygy: Path) -> None:
    tables = hoffman.open_tablebase(str(tmp_path))
    kqkr = "8/8/8/5k2/8/8/1Q4r1/K7 w - - 0 1"
    assert tables.get_wdl(kqkr) is None
    assert tables.add_directory(folder) == len(hoffman.tables_in(folder)) > 10
    assert tables.get_wdl(kqkr) == 1
    answer = tables.probe(kqkr)
    tables.close()
    with pytest.raises(ValueError, match="the tablebase is closed"):
        tables.probe(kqkr)
    with pytest.raises(ValueError, match="the tablebase is closed"):
        tables.add_directory(folder)
    # What was told before can be asked on.
    assert len(answer.line()) == answer.dtm

    several = hoffman.open_tablebase([tmp_path, folder])
    assert several.probe_wdl(kqkr) == 1
    # Syzygy tables say who wins, but not when.
    with hoffman.open_tablebase(syzygy=syzygy) as others:
        assert others.probe_wdl(kqkr) == 1
        with pytest.raises(hoffman.NotProved) as caught:
            others.probe_dtm(kqkr)
        assert caught.value.code == "no-distance" and others.get_dtm(kqkr, default=-1) == -1
        assert others.probe(kqkr).plies is None


def test_pictures_have_an_arrow_for_every_move(tables: hoffman.Tablebase) -> None:
    answer = tables.probe("8/8/8/5k2/8/8/1Q4r1/K7 w - - 0 1")
    picture = answer._repr_svg_()
    assert picture is not None and picture.startswith("<svg")
    squares = {move.uci[:4] for move in answer.moves()}
    assert picture.count('class="arrow"') == 2 * len(squares)
    # Won moves that are best, other results.
    assert "#1b7a1bd0" in picture and "#2f5fb360" in picture and "#b3261e60" in picture


def test_what_is_wanted_works_without_numpy_and_chess(folder: Path) -> None:
    import subprocess
    import sys

    program = f"""
import sys
sys.modules["numpy"] = sys.modules["chess"] = None
import hoffman
tables = hoffman.open_tablebase({str(folder)!r})
answer = tables.probe("8/8/8/5k2/8/8/1Q6/K7 w - - 0 1")
assert answer.dtm == 19 and answer._repr_svg_() is None
for ask in (lambda: tables.probe_batch([answer.fen]), lambda: hoffman.Table("KQvK", {str(folder)!r}).chunks()):
    try:
        ask()
    except ImportError as error:
        assert "numpy" in str(error)
    else:
        raise SystemExit("no ImportError")
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_many_threads_ask_at_once(tables: hoffman.Tablebase, positions: List[chess.Board]) -> None:
    from concurrent.futures import ThreadPoolExecutor

    fens = [board.fen() for board in positions]
    alone = tables.probe_batch(fens).dtm
    with ThreadPoolExecutor(4) as pool:
        for result in pool.map(lambda _: tables.probe_batch(fens).dtm, range(8)):
            assert np.array_equal(result, alone)


