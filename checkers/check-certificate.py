#!/usr/bin/env python3
"""Checks certificates of chess positions, as `hoffman solve --certificate` writes them.

Usage: check-certificate.py FILE...

Knows the rules of chess from python-chess (https://pypi.org/project/chess/) and nothing else: no
tables, no solver. The format is in docs/certificates.md. Prints what each file proves; the exit
code is 0 if all files prove what they claim, and 1 if one does not.
"""

import gzip
import sys
import zlib

try:
    import chess
except ImportError:
    sys.exit("python-chess is missing: python3 -m pip install chess")

FIRST_LINE = "hoffman-certificate 1"
LONGEST_LINE = 200
MOST_MOVES = 65535
SIDES = {"white": chess.WHITE, "black": chess.BLACK}


class Wrong(Exception):
    """Why a certificate proves nothing."""


def key(board):
    """All that makes a position what it is. En passant counts only where it is legal."""
    square = board.ep_square if board.has_legal_en_passant() else None
    return (
        board.turn,
        square,
        board.occupied_co[chess.WHITE],
        board.occupied_co[chess.BLACK],
        board.pawns,
        board.knights,
        board.bishops,
        board.rooks,
        board.queens,
    )


def can_win(board, side):
    """Whether a side can mate at all: not with a bare king, nor with a bishop or a knight alone
    against a bare king."""
    own = board.occupied_co[side]
    men = chess.popcount(own)
    if men == 1:
        return False
    minor = bool((board.bishops | board.knights) & own)
    alone = chess.popcount(board.occupied_co[not side]) == 1
    return not (men == 2 and minor and alone)


def read_number(text):
    """A number of moves, in digits."""
    if not (text.isascii() and text.isdigit() and int(text) <= MOST_MOVES):
        raise Wrong(f"'{text}' is no number of moves")
    return int(text)


def read_position(epd):
    """A board from an EPD of four fields."""
    fields = epd.split(" ")
    if len(fields) != 4:
        raise Wrong(f"'{epd}' has not four fields")
    if fields[2] != "-":
        raise Wrong(f"'{epd}' has castling rights")
    try:
        board = chess.Board(epd + " 0 1")
    except ValueError as error:
        raise Wrong(f"'{epd}': {error}") from error
    if not board.is_valid():
        raise Wrong(f"'{epd}' is no legal position")
    return board


class Lines:
    """The lines of a file, with their numbers."""

    def __init__(self, file):
        self.file = file
        self.number = 0
        # The line that is looked at, which is an earlier one where a strategy is checked.
        self.at = 0

    def next(self):
        """The next line without its end; none at the end of the file."""
        self.number += 1
        self.at = self.number
        line = self.file.readline(LONGEST_LINE)
        if not line:
            return None
        if not line.endswith(b"\n"):
            raise Wrong("it is longer than any line is, or the file ends in it")
        return line[:-1].decode("ascii")


def read_choice(line):
    """A board, the move that is played (or none), and how many moves are left."""
    words = line.split(" ")
    if len(words) not in (5, 6):
        raise Wrong("it is not a position of four fields, a move, and a number")
    board = read_position(" ".join(words[:4]))
    move = None
    if words[4] != "-":
        try:
            move = chess.Move.from_uci(words[4])
        except ValueError as error:
            raise Wrong(str(error)) from error
        if not board.is_legal(move):
            raise Wrong(f"'{words[4]}' is not legal")
    moves = read_number(words[5]) if len(words) == 6 else 0
    return board, move, moves


def read_claim(line):
    """The side and the most moves that its win takes, or none if it only holds."""
    words = line.split(" ")
    if len(words) < 3 or words[0] != "claim" or words[1] not in SIDES:
        raise Wrong("it begins no claim")
    if words[2:] == ["holds"]:
        return SIDES[words[1]], None
    if len(words) == 4 and words[2] == "wins":
        return SIDES[words[1]], read_number(words[3])
    raise Wrong("it begins no claim")


def read_strategy(lines, side, wins):
    """The positions of a strategy, each with the line that tells the move, and the lines."""
    left, choices = {}, []
    while True:
        line = lines.next()
        if line is None:
            raise Wrong("the claim has no end")
        if line.startswith("end "):
            if line != f"end {len(choices)}":
                raise Wrong(f"there are {len(choices)} positions")
            return left, choices
        board, move, moves = read_choice(line)
        if board.turn != side:
            raise Wrong("the other side is to move")
        if wins and moves == 0:
            raise Wrong("a win takes a move at least")
        if not wins and moves != 0:
            raise Wrong("moves are not counted where nobody wins")
        place = key(board)
        if place in left:
            raise Wrong("the position was there before")
        left[place] = moves
        choices.append((lines.number, board, move, moves))


class Strategy:
    """A claim with its strategy."""

    def __init__(self, side, most, left):
        self.side = side
        self.most = most
        self.left = left

    def check_met(self, board, allowed):
        """Whether the strategy has a position, with at most so many moves to go."""
        moves = self.left.get(key(board))
        if moves is None:
            if self.most is not None or can_win(board, not self.side):
                raise Wrong(f"'{board.epd()}' has no move")
        elif self.most is not None and moves > allowed:
            raise Wrong(f"'{board.epd()}' takes {moves} moves, not {allowed}")

    def check_replies(self, board, allowed):
        """Whether it goes on after every move of the other side."""
        replies = 0
        for move in board.legal_moves:
            replies += 1
            board.push(move)
            self.check_met(board, allowed)
            board.pop()
        if replies == 0 and self.most is not None and not board.is_check():
            raise Wrong(f"stalemate: '{board.epd()}'")

    def check_choice(self, board, move, moves):
        """Whether a move leads to nothing but what the strategy knows."""
        if move is None:
            if self.most is not None or not board.is_stalemate():
                raise Wrong("a move is missing")
            return
        board.push(move)
        self.check_replies(board, moves - 1)


def check_claim(lines, root, begin):
    """Checks the claim that begins with a line, and tells it in words."""
    at = lines.at
    side, most = read_claim(begin)
    left, choices = read_strategy(lines, side, most is not None)
    strategy = Strategy(side, most, left)
    lines.at = at
    if root.turn == side:
        strategy.check_met(root, most)
    else:
        strategy.check_replies(root, most)
    for lines.at, board, move, moves in choices:
        strategy.check_choice(board, move, moves)
    what = "holds" if most is None else f"wins in at most {most} moves"
    return f"{chess.COLOR_NAMES[side].capitalize()} {what}, {len(choices)} positions"


def check(path):
    """The position that a file is about, and what it proves in words."""
    with gzip.open(path, "rb") as file:
        lines = Lines(file)
        try:
            if lines.next() != FIRST_LINE:
                raise Wrong(f"it is not '{FIRST_LINE}'")
            second = lines.next()
            if second is None or not second.startswith("position "):
                raise Wrong("it is not 'position' and a position")
            root = read_position(second[len("position "):])
            proved = []
            while (begin := lines.next()) is not None:
                proved.append(check_claim(lines, root, begin))
        except (Wrong, UnicodeDecodeError) as error:
            raise Wrong(f"line {lines.at}: {error}") from error
        return root.epd(), proved


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    failed = False
    for path in sys.argv[1:]:
        try:
            position, proved = check(path)
            print(f"{path}: {position}: {'; '.join(proved) or 'nothing is claimed'}")
        except (Wrong, OSError, EOFError, zlib.error) as error:
            print(f"{path}: {error}", file=sys.stderr)
            failed = True
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
