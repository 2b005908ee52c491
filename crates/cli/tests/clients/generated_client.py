"""Asks `hoffman serve` through clients that were not written for it.

    generated_client.py ADDRESS FOLDER

A client is made of `/openapi.json` by openapi-python-client, in FOLDER, and asks for a position, best play, many positions,
and the tables; berserk, the client of Lichess in Python, asks for positions with nothing but its address changed. What is
wrong ends it with an assertion.
"""

import importlib
import json
import pathlib
import subprocess
import sys

import berserk
import httpx

QUEEN = "8/8/8/5k2/8/8/1Q6/K7 w - - 0 1"
MATED = "7k/6Q1/6K1/8/8/8/8/8 b - - 0 1"
KINGS = "8/8/8/5k2/8/8/8/K7 w - - 0 1"
PAWN = "4k3/8/4K3/4P3/8/8/8/8 b - - 0 1"


def generate(address, folder):
    """The module that is made of the description."""
    description = pathlib.Path(folder) / "openapi.json"
    description.write_text(httpx.get(f"http://{address}/openapi.json").text)
    command = [pathlib.Path(sys.executable).parent / "openapi-python-client", "generate", "--path", description,
               "--output-path", pathlib.Path(folder) / "made", "--meta", "none"]
    made = subprocess.run(command, capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stdout + made.stderr
    sys.path.insert(0, str(folder))
    return importlib.import_module("made")


def check_generated(address, made):
    def of(name):
        return importlib.import_module(f"made.api.default.{name}")

    client = made.Client(base_url=f"http://{address}", raise_on_unexpected_status=True)
    position = of("standard").sync(client=client, fen=QUEEN)
    assert (position.category.value, position.dtm, position.checkmate) == ("win", 19, False), position
    assert len(position.moves) == 24 and position.moves[0].category.value == "loss", position.moves[0]
    assert position.moves[0].dtm == -18 and position.moves[0].uci, position.moves[0]
    assert of("standard").sync(client=client, fen=MATED).checkmate is True
    wrong = of("standard").sync_detailed(client=client, fen="x")
    assert wrong.status_code == 400 and isinstance(wrong.parsed, str) and wrong.parsed.strip(), wrong

    line = of("standard_mainline").sync(client=client, fen=QUEEN)
    assert len(line.mainline) == 19 and line.winner.value == "w" and line.mainline[-1].san.endswith("#"), line
    drawn = of("standard_mainline").sync(client=client, fen=KINGS)
    assert drawn.winner is None and drawn.mainline == [], drawn

    # Its generator knows no lines of JSON, so it hands them on as they are.
    client = made.Client(base_url=f"http://{address}")
    many = of("batch").sync_detailed(client=client, body=[QUEEN, MATED, "x", PAWN])
    answers = [json.loads(line) for line in many.content.splitlines()]
    assert many.status_code == 200 and len(answers) == 4, many
    model = importlib.import_module("made.models").Position
    parsed = [model.from_dict(answer) for answer in answers if "error" not in answer]
    assert [position.category.value for position in parsed] == ["win", "loss", "loss"], answers
    assert answers[2]["code"] == "bad-fen", answers[2]

    tables = {table.name: table for table in of("tables").sync(client=client)}
    assert tables["kqk.htb"].countable is True and tables["kqk.htb"].counting is None, tables["kqk.htb"]
    assert of("stats").sync(client=client, table="kqk.htb") is not None
    print("generated: a position, best play, many positions, tables")


def check_berserk(address):
    client = berserk.Client(tablebase_url=f"http://{address}")
    answer = client.tablebase.standard(QUEEN)
    assert (answer["category"], answer["dtm"], len(answer["moves"])) == ("win", 19, 24), answer
    best = answer["moves"][0]
    assert client.tablebase.look_up(PAWN)["category"] == "loss" and best["category"] == "loss", best
    assert client.tablebase.standard(MATED)["checkmate"] is True
    try:
        client.tablebase.standard("x")
        raise AssertionError("a position that is none was answered")
    except berserk.exceptions.ResponseError as error:
        assert error.status_code == 400, error
    print("berserk: positions, as from Lichess")


if __name__ == "__main__":
    [where, room] = sys.argv[1:]
    check_generated(where, generate(where, room))
    check_berserk(where)
