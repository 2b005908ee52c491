"""Reads what lists, lines, annotations and plots print, by programs that were not written for it.

    documents.py epd FILE      lines of EPD: positions that python-chess takes, and that its rules know
    documents.py pgn FILE      games in PGN, every move of them
    documents.py svg FILE...   pictures that are XML

Prints how many there were. What is wrong ends it with an assertion.
"""

import sys
import xml.dom.minidom

import chess
import chess.pgn


def read_epd(path):
    count = 0
    for line in open(path, encoding="utf-8"):
        board, operations = chess.Board.from_epd(line.strip())
        assert board.is_valid(), line
        # The words of a result are there in any case, a move is one of the position.
        assert operations["c0"], line
        if "bm" in operations:
            assert all(board.is_legal(move) for move in operations["bm"]), line
        if "pv" in operations:
            for move in operations["pv"]:
                board.push(move)
            assert board.is_checkmate(), line
        count += 1
    return count


def read_pgn(path):
    count = 0
    with open(path, encoding="utf-8") as file:
        while (game := chess.pgn.read_game(file)) is not None:
            assert not game.errors, game.errors
            # The last position of the main line says what the header says.
            end = game.end().board()
            if end.is_checkmate():
                assert game.headers["Result"] == end.result(), game.headers
            count += 1
    return count


def read_svg(paths):
    for path in paths:
        with xml.dom.minidom.parse(path) as document:
            root = document.documentElement
            assert root.tagName == "svg" and root.getElementsByTagName("title"), path
    return len(paths)


READERS = {"epd": lambda paths: read_epd(*paths), "pgn": lambda paths: read_pgn(*paths), "svg": read_svg}
print(READERS[sys.argv[1]](sys.argv[2:]))
