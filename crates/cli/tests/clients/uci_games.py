"""Plays games against `hoffman uci` through python-chess, as a user interface does.

    uci_games.py HOFFMAN TABLES GAMES ENDING... [--opponent STOCKFISH] [--polyglot POLYGLOT]

From random positions of the endings, won ones are won in the number of moves that was announced, or sooner, and lost
ones are held for at least as long, whoever the opponent is: another engine, or moves by chance. Every line shown is
legal and ends with the mate that it announces. With PolyGlot the moves are asked for as XBoard does, through that
adapter, as user interfaces do that know no UCI.
"""

import argparse
import contextlib
import pathlib
import random
import sys
import tempfile

import chess
import chess.engine

LIMIT = chess.engine.Limit(time=0.02)
# Without a time, so that lines are whole.
WHOLE = chess.engine.Limit(depth=1)


def random_position(ending, rng):
    """A legal position of an ending such as KQvKR whose game is not over."""
    white, black = ending.split("v")
    while True:
        board = chess.Board(None)
        squares = rng.sample(chess.SQUARES, len(white) + len(black))
        men = [(letter, chess.WHITE) for letter in white] + [(letter, chess.BLACK) for letter in black]
        for (letter, color), square in zip(men, squares):
            piece = chess.Piece(chess.PIECE_SYMBOLS.index(letter.lower()), color)
            board.set_piece_at(square, piece)
        board.turn = rng.choice([chess.WHITE, chess.BLACK])
        if board.is_valid() and not board.is_game_over(claim_draw=False):
            return board


def check_lines(engine, board):
    """The best moves, best first, with lines that do what their scores say. The best score."""
    lines = engine.analyse(board, WHOLE, multipv=8)
    assert len(lines) == min(8, board.legal_moves.count()), (board.fen(), len(lines))
    scores = [line["score"].relative for line in lines]
    assert scores == sorted(scores, reverse=True), (board.fen(), scores)
    for line in lines:
        end = board.copy()
        for move in line["pv"]:
            assert end.is_legal(move), (board.fen(), line)
            end.push(move)
        mate = line["score"].relative.mate()
        if mate is not None:
            plies = 2 * mate - 1 if mate > 0 else -2 * mate
            assert end.is_checkmate() and len(line["pv"]) == plies, (board.fen(), line)
    return scores[0]


def play(engine, opponent, board, rng):
    """Who mates, and in how many of its moves, from a position in which the engine is to move; none if there is
    no mate in a hundred and fifty moves, or no men are left to mate with."""
    start = board.fen()
    engine_color = board.turn
    played = 0
    while not board.is_checkmate():
        assert board.legal_moves, (start, board.fen())
        if board.turn == engine_color:
            move = engine.play(board, LIMIT).move
            if move is None:
                # PolyGlot ends games that are drawn by the fifty-move rule or by repetition.
                assert board.can_claim_draw(), (start, board.fen())
                return None, played
        elif opponent is None:
            move = rng.choice(list(board.legal_moves))
        else:
            move = opponent.play(board, chess.engine.Limit(nodes=5000)).move
        board.push(move)
        played += 1
        if played == 300 or board.is_insufficient_material():
            return None, played
    return not board.turn, (played + 1) // 2


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("hoffman")
    parser.add_argument("tables")
    parser.add_argument("games", type=int)
    parser.add_argument("endings", nargs="+")
    parser.add_argument("--opponent")
    parser.add_argument("--polyglot")
    args = parser.parse_args()
    with contextlib.ExitStack() as stack:
        # An engine that is not closed would keep the program from ending with its error.
        def start(command):
            return stack.enter_context(chess.engine.SimpleEngine.popen_uci(command))

        opponent = start(args.opponent) if args.opponent else None
        analyst = engine = start([args.hoffman, "uci", "--dir", args.tables])
        if args.polyglot:
            settings = stack.enter_context(tempfile.TemporaryDirectory())
            command = adapted(args.polyglot, args.hoffman, args.tables, pathlib.Path(settings))
            engine = stack.enter_context(chess.engine.SimpleEngine.popen_xboard(command))
        play_games(analyst, engine, opponent, args.games, args.endings)


def adapted(polyglot, hoffman, tables, folder):
    """The command of an engine of XBoard that hands everything on to Hoffman. Its file of settings is in the folder."""
    settings = folder / "polyglot.ini"
    engine = f"EngineDir = {pathlib.Path.cwd()}\nEngineCommand = {hoffman} uci --dir {tables}\n"
    settings.write_text(f"[PolyGlot]\n{engine}Resign = false\nSettingsDir = {folder}\n[Engine]\n")
    return [polyglot, str(settings)]


def play_games(analyst, engine, opponent, games, endings):
    """So many games of the engine, from positions that the analyst says are not drawn."""
    rng = random.Random(2006)
    won = held = drawn = 0
    while won + held < games:
        board = random_position(endings[(won + held + drawn) % len(endings)], rng)
        mate = check_lines(analyst, board).mate()
        if mate is None:
            drawn += 1
            continue
        winner, moves = play(engine, opponent, board.copy(), rng)
        if mate > 0:
            assert winner == board.turn and moves <= mate, (board.fen(), mate, moves)
            won += 1
        else:
            # An opponent that plays anything may even lose.
            assert winner in (None, board.turn) or moves >= -mate, (board.fen(), mate, moves)
            held += 1
    print(f"{won} games won in time, {held} held as long as announced, {drawn} drawn positions analysed")


if __name__ == "__main__":
    sys.exit(main())
