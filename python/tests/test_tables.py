"""Whole tables: every position once, with the values that are answered."""

from __future__ import annotations

from pathlib import Path
from typing import Set

import chess
import numpy as np
import pytest

import hoffman


@pytest.mark.parametrize("name", ["KQvK", "KPvK", "KPvKP", "KQvKR"])
def test_chunks_are_the_positions_of_the_statistics(
    folder: Path, tables: hoffman.Tablebase, name: str
) -> None:
    table = hoffman.Table(name, folder)
    stats = table.stats()
    sides = {True: stats["white_to_move"], False: stats["black_to_move"]}
    passing = {True: stats["en_passant"]["white_to_move"], False: stats["en_passant"]["black_to_move"]}
    # The stored side stands for the other one where both have the same men.
    turns = [True] if name == "KPvKP" else [True, False]

    found = {turn: dict.fromkeys(["legal", "win", "draw", "loss"], 0) for turn in (True, False)}
    histogram = {turn: {} for turn in turns}  # type: ignore[var-annotated]
    last = -1
    for chunk in table.chunks(size=100_003):
        assert len(chunk) == len(chunk.wdl) == len(chunk.dtm) and chunk.conversion is None
        assert chunk.squares.shape == (len(chunk), len(table.men))
        assert (np.diff(chunk.index.astype(np.int64)) > 0).all() and chunk.index[0] > last
        last = int(chunk.index[-1])
        assert np.array_equal(chunk.wdl, chunk.said_wdl) and np.array_equal(chunk.dtm, chunk.said_dtm)
        for turn in turns:
            side = chunk.white_to_move == turn
            found[turn]["legal"] += int(side.sum())
            for word, result in (("win", 1), ("draw", 0), ("loss", -1)):
                found[turn][word] += int((chunk.wdl[side] == result).sum())
            decided = side & (chunk.wdl != 0) & (chunk.en_passant < 0)
            for plies, count in zip(*np.unique(chunk.dtm[decided], return_counts=True)):
                histogram[turn][int(plies)] = histogram[turn].get(int(plies), 0) + int(count)
    assert last < table.indices
    for turn in turns:
        for word, count in found[turn].items():
            assert count == sides[turn][word] + passing[turn][word], (name, turn, word)
        assert sorted(histogram[turn].items()) == [tuple(pair) for pair in sides[turn]["histogram"]]


@pytest.mark.parametrize("name", ["KPvK", "KPvKP", "KRvKN"])
def test_chunks_are_what_is_answered(folder: Path, tables: hoffman.Tablebase, name: str) -> None:
    table = hoffman.Table(name, folder)
    seen: Set[str] = set()
    for number, chunk in enumerate(table.chunks()):
        places = np.random.default_rng(number).choice(len(chunk), min(400, len(chunk)), replace=False)
        passing = np.flatnonzero(chunk.en_passant >= 0)[:50]
        places = np.concatenate([places, passing])
        fens = [chunk.fen(int(place)) for place in places]
        batch = tables.probe_batch(fens)
        assert not batch.errors
        assert np.array_equal(batch.wdl, chunk.wdl[places])
        assert np.array_equal(batch.dtm, chunk.dtm[places])
        for place, fen in zip(places, fens):
            board = chess.Board(fen)
            assert board.is_valid() and board.turn == chunk.white_to_move[place]
            assert (board.ep_square or -1) == chunk.en_passant[place]
            for man, square in zip(table.men, chunk.squares[place]):
                assert str(board.piece_at(int(square))) == man
        seen.update(fens)
    assert len(seen) >= 400


def test_places_of_a_chunk(folder: Path) -> None:
    chunk = next(hoffman.Table("KQvK", folder).chunks())
    fens = chunk.fens()
    assert len(fens) == len(set(fens)) == len(chunk)
    assert (chunk.fen(0), chunk.fen(-1)) == (fens[0], fens[-1])
    with pytest.raises(IndexError):
        chunk.fen(len(chunk))
    # The arrays are the caller's own.
    chunk.wdl[0] = 5
    assert chunk.wdl[0] == 5


def test_what_a_table_says_of_itself(folder: Path) -> None:
    table = hoffman.Table(folder / "kqkr.htb")
    assert (table.path, table.ending, table.format) == (folder / "kqkr.htb", "KQvKR", "dtm")
    assert sorted(table.men) == ["K", "Q", "k", "r"] and table.variant == "chess"
    assert (table.is_partial, table.assumes, len(table.certain)) == (False, [], 4)
    assert table.path in hoffman.tables_in(folder)
    with pytest.raises(hoffman.BadTable) as caught:
        hoffman.Table("KQQvK", folder)
    assert caught.value.code == "not-found"


def test_damage_is_an_error(folder: Path, tmp_path: Path) -> None:
    bytes = bytearray((folder / "krk.htb").read_bytes())
    middle = len(bytes) // 2
    bytes[middle : middle + 40] = b"x" * 40
    path = tmp_path / "krk.htb"
    path.write_bytes(bytes)
    with pytest.raises(hoffman.BadTable) as caught:
        for _ in hoffman.Table(path).chunks():
            pass
    assert caught.value.code == "damaged-table" and str(path) in str(caught.value)
