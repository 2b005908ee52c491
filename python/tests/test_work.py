"""Making tables: what is told, what stops it, what comes out."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path
from typing import List

import pytest

import hoffman

EXAMPLES = Path(__file__).parents[2] / "examples"
WIN = "8/8/8/5k2/8/8/1Q6/K7 w - - 0 1"


def test_a_position_is_solved_without_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    solved = hoffman.solve(WIN)
    assert (solved.answer.value, solved.answer.dtm) == ("win", 19)
    # The tables behind it answer other positions and moves.
    assert solved.tables.probe_dtm("8/8/8/8/8/5k2/8/K1Q5 b - - 0 1") < 0
    assert len(solved.answer.line()) == 19 and len(solved.built.made) == 2
    assert str(solved) == str(solved.answer) and solved._repr_svg_() == solved.answer._repr_svg_()
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ValueError, match="take no other folders"):
        solved.tables.add_directory(tmp_path)


def test_a_position_is_solved_into_a_folder(tmp_path: Path) -> None:
    solved = hoffman.solve(WIN, dir=tmp_path / "tables", threads=1)
    names = [path.name for path in hoffman.tables_in(tmp_path / "tables")]
    assert names == ["kk.htb", "kqk.htb"] == sorted(made.name for made in solved.built.made)
    again = hoffman.solve(WIN, dir=tmp_path / "tables")
    assert again.built.made == [] and len(again.built.kept) == 2


def test_positions_that_cannot_be_solved() -> None:
    with pytest.raises(hoffman.BadPosition):
        hoffman.solve("nonsense")
    with pytest.raises(hoffman.TooLarge) as caught:
        hoffman.solve("rnbqk3/ppp5/8/8/8/8/5PPP/3QKBNR w - - 0 1")
    assert caught.value.code == "too-large"


def test_a_build_tells_how_far_it_is(tmp_path: Path) -> None:
    events: List[hoffman.Event] = []
    threads = set()

    def progress(event: hoffman.Event) -> None:
        events.append(event)
        threads.add(threading.get_ident())

    built = hoffman.build(["KPvK", "KRvKN"], dir=tmp_path, progress=progress)
    assert threads == {threading.get_ident()}
    kinds = {event.kind for event in events}
    assert {"begin", "table", "phase", "done", "finished", "made"} <= kinds, kinds
    fractions = [event.fraction for event in events if event.kind == "done"]
    assert fractions == sorted(fractions) and fractions[-1] == 1
    assert events[-1].done == events[-1].total > 0
    finished = [event.table for event in events if event.kind == "finished"]
    assert len(finished) == len(built.made) == 7

    made = {made.name: made for made in built.made}
    assert made["krkn.hbf"].longest_wins == (40, 1) and made["kpk.hbf"].longest_wins == (28, None)
    assert made["kpk.hbf"].path == tmp_path / "kpk.hbf" and made["kpk.hbf"].legal
    assert repr(built) == "<Built: made 7, kept 0>"
    again = hoffman.build("KPvK", dir=tmp_path, progress=progress)
    assert (again.made, len(again.kept)) == ([], 6)
    assert events[-1].kind == "kept" and events[-1].path in again.kept


def test_targets_of_all_kinds(tmp_path: Path) -> None:
    assert len(hoffman.build(3, dir=tmp_path, hbf=False).made) == 6
    assert all(path.suffix == ".htb" for path in hoffman.tables_in(tmp_path))
    with hoffman.open_tablebase(tmp_path) as tables:
        assert tables.probe_dtm(WIN) == 19
    with pytest.raises(hoffman.BadEnding) as caught:
        hoffman.build("KQvX", dir=tmp_path)
    assert caught.value.code == "bad-ending"
    with pytest.raises(hoffman.TooLarge):
        hoffman.build("KQQQQQQQvKQQQQQQQ", dir=tmp_path)
    with pytest.raises(TypeError):
        hoffman.build([1.5], dir=tmp_path)  # type: ignore[list-item]


def test_small_tables_say_the_same(tmp_path: Path, tables: hoffman.Tablebase) -> None:
    small, apart = tmp_path / "small", tmp_path / "apart"
    hoffman.build("KPvK", dir=small)
    hoffman.build("KPvK", dir=apart, profile="fast", outcomes=True)
    sizes = [sum(path.stat().st_size for path in hoffman.tables_in(folder)) for folder in (small, apart)]
    assert 2 * sizes[0] < sizes[1], sizes
    positions = ["8/8/8/8/8/1k6/1P6/K7 w - - 0 1", "8/8/8/8/8/1k6/1P6/K7 b - - 0 1", WIN]
    positions += ["8/4P3/8/8/8/8/k7/2K5 b - - 0 1", "8/4P3/8/8/8/8/k7/2K5 w - - 0 1"]
    for folder in (small, apart):
        with hoffman.open_tablebase(folder) as opened:
            for position in positions:
                assert opened.probe_dtm(position) == tables.probe_dtm(position), position
    table = hoffman.Table(small / "kpk.hbf")
    assert table.stats()["white_to_move"] == hoffman.Table(apart / "kpk.hbf").stats()["white_to_move"]
    only = tmp_path / "only"
    hoffman.build("KPvK", dir=only, outcomes="only")
    with hoffman.open_tablebase(only) as opened:
        for position in positions:
            assert opened.probe_wdl(position) == tables.probe_wdl(position), position
            assert opened.get_dtm(position) is None or tables.probe_wdl(position) == 0, position
    with pytest.raises(ValueError, match="'tiny' is no profile"):
        hoffman.build("KQvK", dir=small, profile="tiny")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="are for the block format"):
        hoffman.build("KQvK", dir=small, hbf=False, profile="small")


def left_overs(folder: Path) -> List[str]:
    return [path.name for path in folder.iterdir() if path.suffix not in (".htb", ".hbf", ".lock")]


def test_an_exception_of_the_listener_ends_the_work(tmp_path: Path) -> None:
    class Enough(Exception):
        pass

    def progress(event: hoffman.Event) -> None:
        if event.table == "kqkr.hbf":
            raise Enough(event.kind)

    with pytest.raises(Enough):
        hoffman.build("KQvKR", dir=tmp_path, progress=progress)
    assert not (tmp_path / "kqkr.hbf").exists()
    # The same call goes on with what is there.
    built = hoffman.build("KQvKR", dir=tmp_path)
    assert built.kept and (tmp_path / "kqkr.hbf").exists()


def test_another_thread_cancels(tmp_path: Path) -> None:
    cancel = hoffman.Cancel()
    cancel.cancel()
    assert cancel.is_cancelled()
    with pytest.raises(hoffman.Cancelled) as caught:
        hoffman.build("KQvKR", dir=tmp_path, cancel=cancel)
    assert caught.value.code == "cancelled" and not (tmp_path / "kqkr.hbf").exists()


def test_control_c_ends_the_work(tmp_path: Path) -> None:
    # An ending of five men takes much longer than a signal.
    begun = threading.Event()

    def progress(event: hoffman.Event) -> None:
        if event.table == "krrkr.hbf":
            begun.set()

    def interrupt() -> None:
        begun.wait()
        os.kill(os.getpid(), signal.SIGINT)

    killer = threading.Thread(target=interrupt)
    killer.start()
    with pytest.raises(KeyboardInterrupt):
        hoffman.build("KRRvKR", dir=tmp_path, progress=progress)
    killer.join()
    assert not (tmp_path / "krrkr.hbf").exists() and (tmp_path / "krrk.hbf").exists()


def test_a_control_file_is_analysed(tmp_path: Path) -> None:
    analysis = hoffman.analyse(EXAMPLES / "lasker1901.xml", dir=tmp_path)
    answer = analysis.tables.probe("8/k7/3p4/p2P1p2/P2P1P2/8/8/K7 w - - 0 1")
    # The tutorial, section 12: White wins in 14 by the rules of the table, which prove nothing.
    assert (answer.said, answer.said_dtm) == ("win", 27)
    assert (answer.value, answer.wdl, answer.dtm, answer.bound) == ("unknown", None, None, "none")
    assert analysis.tables.bound(answer.fen) == "none"
    assert answer.assumes == ["White's moves KxP are conceded", "Black's moves KxP are conceded"]
    with pytest.raises(hoffman.NotProved) as caught:
        analysis.tables.probe_wdl(answer)
    assert caught.value.code == "not-proved"
    assert [made.name for made in analysis.built.made] == ["lasker1901.htb"]
    moves = {move.san: move for move in answer.moves()}
    assert moves["Kb1"].answer.said_dtm == -26  # type: ignore[union-attr]

    table = hoffman.Table(tmp_path / "lasker1901.htb")
    assert table.is_partial and table.certain == [] and len(table.assumes) == 2
    won = 0
    for chunk in table.chunks(size=50_000):
        assert (chunk.wdl == hoffman.UNKNOWN_WDL).all() and (chunk.dtm == hoffman.UNKNOWN_DTM).all()
        white = chunk.white_to_move
        won += int((white & (chunk.said_wdl == 1)).sum() + (~white & (chunk.said_wdl == -1)).sum())
    stats = table.stats()
    assert won == stats["white_to_move"]["win"] + stats["black_to_move"]["loss"] == 2616
    # A second time it is kept.
    assert hoffman.analyse(EXAMPLES / "lasker1901.xml", dir=tmp_path).built.made == []


CONTROL = """<?xml version="1.0" encoding="ISO-8859-1"?>
<tablebase> <!-- Königin gegen König -->
   <dtc/>
   <piece color="white" type="king"/><piece color="black" type="king"/>
   <piece color="white" type="queen"/>
   <futurebase filename="kk.htb"/>
   <output filename="conversions.htb"/>
</tablebase>
"""


def test_the_text_of_a_control_file_is_analysed(tmp_path: Path) -> None:
    hoffman.build("KvK", dir=tmp_path)
    analysis = hoffman.analyse(CONTROL, dir=tmp_path)
    answer = analysis.tables.probe(WIN)
    assert answer.table == tmp_path / "conversions.htb"
    assert (answer.wdl, answer.dtm, answer.conversion) == (1, None, 10)
    chunk = next(hoffman.Table(tmp_path / "conversions.htb").chunks())
    assert chunk.conversion is not None and chunk.conversion.max() == 10
    assert (chunk.dtm[chunk.wdl == 1] == hoffman.UNKNOWN_DTM).all()

    with pytest.raises(hoffman.HoffmanError, match="the control file, line 5, <piece>"):
        hoffman.analyse(CONTROL.replace('type="queen"', 'type="queer"'), dir=tmp_path)
    with pytest.raises(hoffman.HoffmanError, match="none.xml"):
        hoffman.analyse("none.xml", dir=tmp_path)
