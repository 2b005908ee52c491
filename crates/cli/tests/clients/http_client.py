"""Asks `hoffman serve` as clients do, and as nobody should.

    http_client.py answers ADDRESS HOFFMAN TABLES   what programs written for the Lichess tablebase server get
    http_client.py malformed ADDRESS COUNT          so many requests of each kind that make no sense
    http_client.py slow ADDRESS COUNT               so many clients that begin and do not go on
    http_client.py limits ADDRESS                   of `--rate 1 --connections 8 --body 1000`
    http_client.py builds ADDRESS FOLDER            makes tables in a folder, of a server with `--build 900M`
    http_client.py counts ADDRESS TABLE             counts a table that is too large for that to be waited for
    http_client.py uncounted ADDRESS TABLE          the same of a server that has not the memory for it
    http_client.py stops ADDRESS PID SIGNAL FOLDER  has the server of `--build 900M` end while it is at work
    http_client.py proofs ADDRESS                   proves positions, of a server with `--prove 600`
    http_client.py cors ADDRESS ORIGIN              a page of that origin may read the answers
    http_client.py suicide ADDRESS                  suicide chess, rook against knight, with tables of chess beside

Standard library only. What is wrong ends it with an assertion.
"""

import http.client
import json
import os
import random
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from collections import defaultdict

# The keys of the Lichess tablebase server, in its order.
VERDICT = ["checkmate", "stalemate", "variant_win", "variant_loss", "insufficient_material", "dtz", "precise_dtz",
           "dtm", "dtw", "dtc", "category"]
CATEGORIES = ["loss", "unknown", "syzygy-loss", "maybe-loss", "blessed-loss", "draw", "cursed-win", "maybe-win",
              "syzygy-win", "win"]
QUEEN = "8/8/8/5k2/8/8/1Q6/K7 w - - 0 1"
START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"


def get(address, path, **query):
    """The state, the headers and the text of an answer."""
    url = f"http://{address}{path}"
    if query:
        url += "?" + urllib.parse.urlencode(query)
    try:
        with urllib.request.urlopen(url, timeout=30) as answer:
            return answer.status, answer.headers, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.headers, error.read().decode()


def check_verdict(verdict):
    """What a client of that server relies on."""
    assert [key for key in verdict if key in VERDICT] == VERDICT, list(verdict)
    assert verdict["category"] in CATEGORIES
    for key in VERDICT[:5]:
        assert isinstance(verdict[key], bool), key
    for key in VERDICT[5:10]:
        assert verdict[key] is None or isinstance(verdict[key], int), key
    # With the clock running a win is one that may come too late.
    sign = {"win": 1, "maybe-win": 1, "loss": -1, "maybe-loss": -1}.get(verdict["category"], 0)
    for distance in [verdict["dtm"], verdict["dtw"]]:
        assert not distance or sign == (1 if distance > 0 else -1), verdict


def check_shape(answer):
    check_verdict(answer)
    for move in answer["moves"]:
        keys = [key for key in move if key != "hoffman"]
        assert keys == ["uci", "san", "zeroing", "conversion"] + VERDICT, keys
        check_verdict(move)


def check_positions(address, hoffman, tables):
    """The answers are those of `probe --json`, but for the folder in the name of the table."""
    fens = [QUEEN, "4k3/6KP/8/8/8/8/7p/8 w - - 0 1", "8/8/8/8/8/1k6/7q/K7 b - - 0 1", "7k/6Q1/6K1/8/8/8/8/8 b - - 0 1",
            "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", "8/8/8/5k2/8/8/1Q6/K7 w - - 90 1", "8/8/8/8/8/1k6/7p/K7 b - - 0 1"]
    for fen in fens:
        for text in [fen, fen.replace(" ", "_")]:
            status, headers, body = get(address, "/standard", fen=text)
            assert status == 200 and headers["content-type"] == "application/json", (fen, status)
            answer = json.loads(body)
            check_shape(answer)
            printed = subprocess.run([hoffman, "probe", "--json", "--dir", tables, fen], capture_output=True, check=False)
            expected = json.loads(printed.stdout)
            if expected["hoffman"]["table"]:
                expected["hoffman"]["table"] = expected["hoffman"]["table"].split("/")[-1]
            assert answer == expected, (fen, answer, expected)
    # Best first: the first move of a won position keeps the win, and mates as announced.
    answer = json.loads(get(address, "/standard", fen=QUEEN)[2])
    assert answer["category"] == "win" and answer["dtm"] == 19 and answer["moves"][0]["dtm"] == -18


def check_unknown(address):
    """What no table has is no error for clients of that server."""
    for fen in [START, "r3k3/8/8/8/8/8/8/4K2R w Kq - 0 1", "8/8/2n1k3/8/8/2QRB3/8/K7 w - - 0 1"]:
        status, _, body = get(address, "/standard", fen=fen)
        answer = json.loads(body)
        assert status == 200 and answer["category"] == "unknown", (fen, body)
        assert answer["moves"], fen
        check_shape(answer)
    assert get(address, "/standard/mainline", fen=START)[0] == 404
    # A move that ends the rights is answered.
    answer = json.loads(get(address, "/standard", fen="4k2r/8/8/8/8/8/8/4K3 b k - 0 1")[2])
    assert "hoffman" in answer and len(answer["moves"]) == 15, answer


def check_main_line(address):
    answer = json.loads(get(address, "/standard/mainline", fen=QUEEN)[2])
    assert answer["winner"] == "w" and len(answer["mainline"]) == 19, answer
    for move in answer["mainline"]:
        assert {"uci", "san", "dtz", "precise_dtz"} == set(move), move
    assert answer["mainline"][-1]["san"].endswith("#")
    drawn = json.loads(get(address, "/standard/mainline", fen="8/8/8/5k2/8/8/8/K7 w - - 0 1")[2])
    assert drawn["mainline"] == [] and drawn["winner"] is None, drawn


def check_batch(address):
    lines = [QUEEN, "", "nonsense", "8/8/8/8/8/1k6/7q/K7 b - - 0 1"] * 50
    body = "\n".join(lines).encode()
    request = urllib.request.Request(f"http://{address}/batch", data=body, method="POST")
    with urllib.request.urlopen(request, timeout=60) as answer:
        assert answer.headers["content-type"] == "application/x-ndjson"
        answers = [json.loads(line) for line in answer]
    assert len(answers) == 150, len(answers)
    # The same as an array, as generated clients send it.
    typed = {"content-type": "application/json; charset=utf-8"}
    url, fens = f"http://{address}/batch", json.dumps([line for line in lines if line])
    with urllib.request.urlopen(urllib.request.Request(url, fens.encode(), typed), timeout=60) as answer:
        assert [json.loads(line) for line in answer] == answers
    for wrong in [b"{}", b"[1]", b"8/8", b"[\"\xff\"]", b""]:
        try:
            urllib.request.urlopen(urllib.request.Request(url, wrong, typed), timeout=60)
            raise AssertionError(wrong)
        except urllib.error.HTTPError as error:
            assert error.code == 400 and json.loads(error.read())["code"] == "bad-text", wrong
    for at, answer in enumerate(answers):
        if at % 3 == 1:
            assert answer["code"] == "bad-fen" and answer["error"], answer
        else:
            assert answer["dtm"] == [19, None, 1][at % 3], (at, answer["dtm"])


def check_others(address):
    assert get(address, "/healthz")[::2] == (200, "ok\n")
    tables = json.loads(get(address, "/tables")[2])
    queen = next(table for table in tables if table["name"] == "kqk.htb")
    assert queen["ending"] == "KQvK" and queen["men"] == 3 and queen["bytes"] > 1000, queen
    stats = json.loads(get(address, "/api/stats", table="kqk.htb")[2])
    assert stats["white_to_move"]["longest_win_fen"] == QUEEN, stats
    zugzwangs = json.loads(get(address, "/api/list", table="kpk.htb", zugzwang="mutual")[2])
    assert zugzwangs["positions"] == 80 and len(zugzwangs["list"]) == 24, zugzwangs
    assert [kind[::2] for kind in zugzwangs["kinds"]] == [["draw-loss", 80]], zugzwangs
    wins = dict(stats["white_to_move"]["histogram"])[19]
    longest = json.loads(get(address, "/api/list", table="kqk.htb", to_move="white", result="win", moves=10)[2])
    assert longest["positions"] == wins and all(listed["dtm"] == 19 for listed in longest["list"]), longest
    assert get(address, "/api/list", table="kqk.htb", zugzwang="x")[0] == 400
    assert get(address, "/api/list", table="none.htb", zugzwang="mutual")[0] == 404
    metrics = get(address, "/metrics")[2]
    counted = [line for line in metrics.splitlines() if line.startswith("hoffman_http_requests_total{route=\"standard\",code=\"2xx\"}")]
    assert int(counted[0].split()[-1]) > 10, counted
    for path in ["/", "/standard?fen=" + QUEEN.replace(" ", "_"), "/healthz"]:
        status, headers, _ = get(address, path)
        assert status == 200 and "'unsafe-inline'" not in headers["content-security-policy"], path
        assert headers["content-security-policy"].startswith("default-src 'none'"), path
        assert headers["x-content-type-options"] == "nosniff", path
        assert headers["access-control-allow-origin"] is None, path


TYPES = {"string": str, "integer": int, "boolean": bool, "null": type(None), "object": dict, "array": list}


def fits(value, schema, described, at):
    """Whether a value is as a schema of the description says."""
    if "$ref" in schema:
        return fits(value, described["components"]["schemas"][schema["$ref"].split("/")[-1]], described, at)
    types = schema.get("type", [])
    types = types if isinstance(types, list) else [types]
    is_one = any(isinstance(value, TYPES[name]) and not (name == "integer" and isinstance(value, bool)) for name in types)
    assert is_one or not types, (at, value, types)
    assert value in schema.get("enum", [value]), (at, value)
    if isinstance(value, dict):
        for key in schema.get("required", []):
            assert key in value, (at, key)
        for key, inner in schema.get("properties", {}).items():
            if key in value:
                fits(value[key], inner, described, f"{at}.{key}")
    if isinstance(value, list):
        for item in value:
            fits(item, schema.get("items", {}), described, f"{at}[]")


def check_arrays(schema, at):
    """Every array says what it has, without which generators of clients leave it out."""
    if isinstance(schema, dict):
        assert schema.get("type") != "array" or "items" in schema, at
        for key, inner in schema.items():
            check_arrays(inner, f"{at}/{key}")
    if isinstance(schema, list):
        for inner in schema:
            check_arrays(inner, at)


def check_description(address):
    """A client that is made of the description alone gets what the description says."""
    described = json.loads(get(address, "/openapi.json")[2])
    check_arrays(described, "")
    bodies = described["paths"]["/batch"]["post"]["requestBody"]["content"]
    assert list(bodies) == ["text/plain", "application/json"], bodies
    assert described["openapi"].startswith("3.1") and len(described["paths"]) == 16
    for path, operations in described["paths"].items():
        for method, operation in operations.items():
            query = urllib.parse.urlencode({p["name"]: p["example"] for p in operation.get("parameters", []) if "example" in p})
            body = operation.get("requestBody", {}).get("content", {}).get("text/plain", {}).get("example")
            request = urllib.request.Request(f"http://{address}{path}?{query}", method=method.upper(),
                                             data=body.encode() if body else None)
            try:
                with urllib.request.urlopen(request, timeout=30) as answer:
                    status, headers, text = answer.status, answer.headers, answer.read().decode()
            except urllib.error.HTTPError as error:
                status, headers, text = error.code, error.headers, error.read().decode()
            # There are no tables of suicide chess; nothing is made or proved.
            expected = 404 if path.startswith("/suicide") else 403 if path in ["/api/build", "/api/prove"] else 200
            assert status == expected, (path, status, text)
            contents = operation["responses"][str(status)]["content"]
            kind = headers["content-type"].split(";")[0]
            assert kind in contents, (path, kind)
            if kind == "application/json":
                fits(json.loads(text), contents[kind]["schema"], described, path)


def check_nothing_outside(address):
    """A table outside of the folders, and any other file, cannot be had by any name."""
    names = ["../secret.htb", "..%2fsecret.htb", "%2e%2e/secret.htb", "/etc/passwd", "....//secret.htb", "kqk.htb/../../secret.htb",
             "..\\secret.htb", "kqk.htb%00", "", ".", "..", "C:\\secret.htb", "file:///etc/passwd"]
    for name in names:
        for path in [f"/{name}", f"/assets/{name}", f"/assets/../{name}", f"/api/stats?table={name}"]:
            status = exchange(address, f"GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n".encode())
            assert status is None or 400 <= status < 500 or path in ["/", "/assets/../"], (path, status)


def exchange(address, request, timeout=15.0):
    """Sends bytes and ends; the state of the answer, or none if there is none."""
    host, port = address.rsplit(":", 1)
    with socket.create_connection((host, int(port)), timeout=timeout) as stream:
        try:
            stream.sendall(request)
            stream.shutdown(socket.SHUT_WR)
            answer = b""
            while len(answer) < 16:
                some = stream.recv(4096)
                if not some:
                    break
                answer += some
        except TimeoutError as error:
            raise AssertionError(("neither an answer nor an end", request[:300])) from error
        except OSError:
            # Cut off: the server has closed its side already.
            answer = b""
    if not answer.startswith(b"HTTP/1.1 "):
        assert answer == b"", answer
        return None
    return int(answer[9:12])


def random_bytes(rng, most):
    return bytes(rng.randrange(256) for _ in range(rng.randrange(1, most)))


def bad_paths(rng):
    path = rng.choice([
        random_bytes(rng, 60), b"/" + random_bytes(rng, 60), b"/" + b"../" * rng.randrange(1, 30) + b"etc/passwd",
        b"/%" + random_bytes(rng, 5).hex().encode(), b"/standard/" + b"x" * rng.randrange(1, 30_000), b"*",
        b"http://x/" + random_bytes(rng, 9).hex().encode(), b"/assets/" + b"%2e%2e/" * rng.randrange(1, 9), b"/standard%00?fen=8/8",
        b"//standard", b"/STANDARD", b"/batch", b"/standard?fen=" + b"8" * rng.randrange(4_100, 40_000)])
    return b"GET " + path + b" HTTP/1.1\r\nhost: x\r\n\r\n"


def bad_fens(rng):
    letters = "kqrbnpKQRBNP12345678/ w-b_%+é\x00"
    fen = rng.choice([
        "".join(rng.choice(letters) for _ in range(rng.randrange(1, 90))) + "x",
        "/".join("".join(rng.choice("kqrbnpKQRBNP") for _ in range(rng.randrange(9, 14))) for _ in range(8)) + " w - -",
        "8/8/8/8/8/8/8/" + rng.choice(["8", "k7", "K7", "kk6", "kK6"]) + " w - - 0 1", QUEEN.replace(" w ", " x "), QUEEN + " moves a1a9",
        QUEEN + " moves " + "a1b1 " * rng.randrange(2, 100), "8/8/8/8/8/8/8 w", "P7/8/8/8/8/8/k7/6K1 w - - 0 1",
        "8/8/8/8/8/8/8/kQ5K w - - 0 1"])
    path = rng.choice(["/standard", "/standard/mainline", "/api/position", "/api/heat", "/suicide"])
    query = urllib.parse.urlencode({"fen": fen, "square": rng.choice(["a9", "e4", "", "z"])})
    return f"GET {path}?{query} HTTP/1.1\r\nhost: x\r\n\r\n".encode()


def bad_bodies(rng):
    head = b"POST /batch HTTP/1.1\r\nhost: x\r\n"
    size = rng.randrange(1, 2_000)
    return rng.choice([
        head + b"content-length: %d\r\n\r\n" % size + b"\xff" * size,
        head + b"content-length: %d\r\n\r\n" % (size + 1) + b"8" * size,
        head + b"content-length: %d\r\n\r\n8" % rng.choice([1 << 21, 1 << 40, (1 << 64) - 1]),
        head + b"content-length: " + random_bytes(rng, 8).hex().encode() + b"z\r\n\r\n8",
        head + b"content-length: -1\r\n\r\n", head + b"content-length: 1\r\ncontent-length: 2\r\n\r\n88",
        b"GET /standard?fen=x HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\n\r\nabcde",
        b"PUT /batch HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\n\r\n8",
        b"DELETE /tables HTTP/1.1\r\nhost: x\r\n\r\n", b"POST /standard HTTP/1.1\r\nhost: x\r\n\r\n", random_bytes(rng, 300)])


def bad_chunks(rng):
    head = b"POST /batch HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n"
    return rng.choice([
        head + random_bytes(rng, 4).hex().encode() + b"zz\r\nabc\r\n0\r\n\r\n", head + b"5\r\nab\r\n0\r\n\r\n",
        head + b"ffffffffffffffffff\r\nabc", head + b"-5\r\nabc\r\n", head + b"3\r\nabcdef\r\n0\r\n\r\n", head + b"\r\n\r\n",
        head + b"1;" + b"x" * rng.randrange(20_000, 40_000) + b"\r\n8\r\n0\r\n\r\n", head + b"3\r\n\xff\xfe\xfd\r\n0\r\n\r\n",
        head + b"10000000\r\n" + b"8" * 1_000,
        b"POST /batch HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked, gzip\r\n\r\n0\r\n\r\n",
        b"POST /batch HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\ncontent-length: 3\r\n\r\nabc"])


def bad_heads(rng):
    line = b"GET /healthz HTTP/1.1\r\nhost: x\r\n"
    return rng.choice([
        line + b"x: " + b"y" * rng.randrange(20_000, 60_000) + b"\r\n\r\n",
        line + b"".join(b"x%d: y\r\n" % at for at in range(rng.randrange(70, 200))) + b"\r\n",
        line + b"no colon\r\n\r\n", line + b": empty\r\n\r\n", line + b"a\x00b: c\r\n\r\n", b"GET /healthz\r\n\r\n",
        b"GET /healthz HTTP/9.9\r\n\r\n", b"get /healthz HTTP/1.1 extra\r\n\r\n", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"\x16\x03\x01" + random_bytes(rng, 200), b"\r\n" * rng.randrange(1, 9) + b"\x00"])


def still_answers(address):
    status, _, body = get(address, "/standard", fen=QUEEN)
    assert status == 200 and json.loads(body)["dtm"] == 19, (status, body)


def connections(address):
    metrics = get(address, "/metrics")[2].splitlines()
    return int(next(line for line in metrics if line.startswith("hoffman_connections ")).split()[1])


def malformed(address, count):
    rng = random.Random(17)
    for kind in [bad_paths, bad_fens, bad_bodies, bad_chunks, bad_heads]:
        states = {}
        for _ in range(count):
            request = kind(rng)
            status = exchange(address, request)
            assert status is None or 400 <= status < 500, (kind.__name__, status, request[:300])
            states[status] = states.get(status, 0) + 1
        still_answers(address)
        assert any(status for status in states), (kind.__name__, states)
        print(f"{kind.__name__}: {sorted(states.items(), key=str)}")


def slow(address, count):
    """Clients that begin a request, a body, or the reading of a long answer, and do not go on."""
    host, port = address.rsplit(":", 1)
    long = b"\n".join([QUEEN.encode()] * 20_000)
    beginnings = [
        b"", b"G", b"GET /standard?fen=8/8", b"GET / HTTP/1.1\r\nhost: x\r\n", b"GET / HTTP/1.1\r\nhost: x\r\nx:",
        b"POST /batch HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n8/8",
        b"POST /batch HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n5\r\nab"]
    reading = b"POST /batch HTTP/1.1\r\nhost: x\r\ncontent-length: %d\r\n\r\n" % len(long) + long
    done = 0
    while done < count:
        wave = []
        for at in range(min(100, count - done)):
            stream = socket.create_connection((host, int(port)), timeout=30)
            if at == 0:
                stream.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                stream.sendall(reading)
            else:
                stream.sendall(beginnings[at % len(beginnings)])
            wave.append(stream)
        # Others are answered in the meantime.
        still_answers(address)
        for stream in wave[1:]:
            # Cut off: the end of the stream, with or without an answer before it.
            stream.settimeout(30)
            answer = b""
            try:
                while some := stream.recv(4096):
                    answer += some
            except ConnectionError:
                pass
            assert not answer or 400 <= int(answer[9:12]) < 500, answer
            stream.close()
        # Who does not read is not waited for; this connection here is the one that is left.
        end = time.monotonic() + 30
        while connections(address) > 1:
            assert time.monotonic() < end, "a client that does not read is waited for"
            time.sleep(0.1)
        wave[0].close()
        done += len(wave)
    still_answers(address)
    print(f"slow: {done} were cut off")


def limits(address):
    """Of a server with `--rate 1 --connections 8 --body 1000`."""
    request = urllib.request.Request(f"http://{address}/batch", data=b"8" * 1001, method="POST")
    try:
        urllib.request.urlopen(request, timeout=30)
        raise AssertionError("a body that is too large was taken")
    except urllib.error.HTTPError as error:
        assert error.code == 413, error.code

    answers = [get(address, "/healthz") for _ in range(200)]
    assert answers[0][0] == 200 and {answer[0] for answer in answers} == {200, 429}, answers
    refused = next(answer for answer in answers if answer[0] == 429)
    assert refused[1]["retry-after"] == "1" and json.loads(refused[2])["code"] == "rate", refused
    # A batch waits for its turn instead, once it is let in.
    lines = "\n".join([QUEEN] * 12).encode()
    request = urllib.request.Request(f"http://{address}/batch", data=lines, method="POST")
    while True:
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                assert len(answer.read().splitlines()) == 12
            break
        except urllib.error.HTTPError as error:
            assert error.code == 429, error.code
            time.sleep(0.5)

    # Connections that say nothing: one of the next is refused.
    host, port = address.rsplit(":", 1)
    held = []
    while len(held) < 60:
        held.append(socket.create_connection((host, int(port)), timeout=0.5))
        try:
            said = held[-1].recv(100)
        except TimeoutError:
            continue
        assert said.startswith(b"HTTP/1.1 503 "), said
        break
    assert 8 < len(held) < 60, len(held)
    for stream in held:
        stream.close()
    while get(address, "/healthz")[0] != 200:
        time.sleep(0.5)
    print("limits: hold")


def work(address, path, query, enough=lambda event: False, headers=None):
    """The state and the events of some work, until there are enough of them."""
    query = urllib.parse.urlencode(query)
    request = urllib.request.Request(f"http://{address}{path}?{query}", method="POST", headers=headers or {})
    try:
        answer = urllib.request.urlopen(request, timeout=120)
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read())["code"]
    events = []
    with answer:
        assert answer.headers["content-type"] == "text/event-stream"
        for line in answer:
            name, _, text = line.decode().strip().partition(": ")
            if name == "event":
                events.append((text, None))
            elif name == "data":
                events[-1] = (events[-1][0], json.loads(text))
                if enough(events[-1]):
                    break
    return 200, events


def build(address, ending, **how):
    return work(address, "/api/build", {"ending": ending}, **how)


def prove(address, position, **how):
    return work(address, "/api/prove", {"fen": position}, **how)


def builds(address, folder):
    assert prove(address, QUEEN) == (403, "no-proofs")
    assert json.loads(get(address, "/api/plan")[2])["limit"] == 900 << 20
    rook = "8/8/8/4k3/8/8/8/KR6 w - - 0 1"
    assert json.loads(get(address, "/standard", fen=rook)[2])["category"] == "unknown"
    plan = json.loads(get(address, "/api/plan", fen=rook)[2])
    # What a position needs is made as .htb files, an ending as .hbf files.
    assert plan["allowed"] and "krk.htb" in plan["tables"], plan
    plan = json.loads(get(address, "/api/plan", ending="KRvK")[2])
    assert plan["allowed"] and "krk.hbf" in plan["tables"], plan
    # So a missing table is called by its ending.
    answer = json.loads(get(address, "/standard", fen=rook)[2])
    assert answer["hoffman"]["missing"] == ["KRvK"], answer["hoffman"]
    status, _, text = get(address, "/standard/mainline", fen=rook)
    assert (status, text) == (404, "no table has the position; KRvK would\n"), (status, text)
    status, events = build(address, "KRvK")
    assert status == 200 and events[-1][0] == "done" and events[0][0] == "progress", events
    assert events[0][1]["work"] > 0, events
    assert json.loads(get(address, "/standard", fen=rook)[2])["category"] == "win"
    assert json.loads(get(address, "/api/plan", fen=rook)[2])["tables"] == []

    assert build(address, "KRRvKRR") == (403, "too-large")
    for wrong in ["KQ", "x.xml", "../x", ""]:
        assert build(address, wrong)[0] == 400, wrong
    assert build(address, "KNvK", headers={"Origin": "https://example.org"}) == (403, "origin")

    # Who goes away stops the work. Until then nothing else is made, and others are answered.
    def begun(event):
        if event[0] != "progress" or event[1]["table"] != "kqrkr.hbf":
            return False
        assert build(address, "KNvK") == (409, "busy")
        assert json.loads(get(address, "/standard", fen=rook)[2])["category"] == "win"
        return True

    status, events = build(address, "KQRvKR", enough=begun)
    assert status == 200 and events[-1][0] == "progress", events[-1]
    end = time.monotonic() + 60
    while build(address, "KNvK")[0] == 409:
        assert time.monotonic() < end, "the work goes on though nobody waits for it"
        time.sleep(0.2)
    names = os.listdir(folder)
    assert "krk.hbf" in names and "knk.hbf" in names and "kqrkr.hbf" not in names, names
    print("builds: made, refused and stopped")


def counts(address, table):
    def stats(**how):
        return work(address, "/api/stats", {"table": table}, **how)

    def listed(**asked):
        status, events = work(address, "/api/list", {"table": table, **asked})
        assert (status, events[-1][0]) == (200, "done"), (status, events[-1])
        return events[-1][1]

    entry = next(entry for entry in json.loads(get(address, "/tables")[2]) if entry["name"] == table)
    assert entry["countable"] is False and entry["counting"]["bytes"] > 70e6 and entry["counting"]["seconds"] > 0.1, entry
    assert json.loads(get(address, "/api/stats", table=table)[2])["code"] == "too-large"
    assert json.loads(get(address, "/api/list", table=table, zugzwang="mutual")[2])["code"] == "too-large"
    assert stats(headers={"Origin": "https://example.org"}) == (403, "origin")
    assert work(address, "/api/stats", {"table": "x.hbf"}) == (404, "not-found")
    assert work(address, "/api/list", {"table": table, "zugzwang": "x"}) == (400, "bad-parameter")

    # Who goes away stops the work. Until then nothing else is counted so, and others are answered.
    def begun(event):
        assert event[0] == "progress" and event[1]["table"] == table, event
        assert event[1]["seconds_expected"] == entry["counting"]["seconds"], event
        assert stats() == (409, "busy")
        assert get(address, "/api/stats", table="kqk.hbf")[0] == 200, "others are not answered"
        return True

    status, events = stats(enough=begun)
    assert status == 200 and len(events) == 1, events
    end = time.monotonic() + 60
    while stats(enough=lambda _: True)[0] == 409:
        assert time.monotonic() < end, "the work goes on though nobody waits for it"
        time.sleep(0.05)

    end = time.monotonic() + 60
    while (answer := stats())[0] == 409 and time.monotonic() < end:
        time.sleep(0.05)
    status, events = answer
    assert (status, events[-1][0]) == (200, "done"), (status, events[-1])
    counted = events[-1][1]
    white = counted["white_to_move"]
    assert white["longest_win_moves"] == 33 and white["longest_win_fen"], white
    # What was counted is known.
    assert json.loads(get(address, "/api/stats", table=table)[2]) == counted

    mutual = listed(zugzwang="mutual")
    assert mutual["positions"] == 121 and len(mutual["list"]) == 24, mutual
    assert {name: number for name, _, number in mutual["kinds"]} == {"draw-loss": 106, "loss-loss": 15}, mutual["kinds"]
    longest = listed(to_move="white", result="win", moves="33")
    assert longest["positions"] == dict(white["histogram"])[65] and longest["list"], longest["positions"]
    for position in longest["list"][:3]:
        assert json.loads(get(address, "/standard", fen=position["fen"])[2])["dtm"] == 65, position
    print(f"counts: {sum(side['legal'] for side in [white, counted['black_to_move']]):,} positions")


def uncounted(address, table):
    entry = next(entry for entry in json.loads(get(address, "/tables")[2]) if entry["name"] == table)
    assert (entry["countable"], entry["counting"]) == (False, None), entry
    assert work(address, "/api/stats", {"table": table}) == (403, "too-large")
    print("counts: none here")


def stops(address, pid, signal, folder):
    """Answers under way are finished, nobody new is let in, and what is being made leaves nothing half-written."""
    host, port = address.rsplit(":", 1)
    fens = (QUEEN + "\n").encode() * 8
    head = f"POST /batch HTTP/1.1\r\nhost: {address}\r\ncontent-length: {len(fens)}\r\n\r\n".encode()
    idle = http.client.HTTPConnection(address, timeout=30)
    idle.request("GET", "/healthz")
    assert idle.getresponse().read() == b"ok\n"

    asking, asked = None, []

    def begun(event):
        nonlocal asking
        if not asked and event[0] == "progress" and event[1]["table"] == "kqrkr.hbf":
            asking = socket.create_connection((host, int(port)), timeout=30)
            asking.sendall(head + fens[:100])
            time.sleep(0.1)
            os.kill(int(pid), int(signal))
            asked.append(time.monotonic())
        return False

    status, events = build(address, "KQRvKR", enough=begun)
    assert asked and status == 200 and events[-1][0] == "failed", events[-1:]
    assert events[-1][1]["code"] == "cancelled", events[-1]

    # Nobody new is let in, while the request of before is still taken and answered.
    try:
        socket.create_connection((host, int(port)), timeout=10).close()
        raise AssertionError("a new connection was let in")
    except ConnectionRefusedError:
        pass
    asking.sendall(fens[100:])
    answer = http.client.HTTPResponse(asking)
    answer.begin()
    lines = answer.read().decode().splitlines()
    assert answer.status == 200 and len(lines) == 8 and all("category" in json.loads(line) for line in lines), lines
    # A connection on which nothing was under way is closed.
    assert idle.sock is None or idle.sock.recv(1) == b""
    print(f"stops: {time.monotonic() - asked[0]:.1f} s after the signal")


def shown(address, position):
    return json.loads(get(address, "/api/position?fen=" + urllib.parse.quote(position))[2])


def proofs(address):
    may = json.loads(get(address, "/api/plan")[2])
    assert may == {"limit": None, "prove": 600, "men": 5}, may
    # Fine, Basic Chess Endings, 70: one move wins.
    fine = "8/k7/3p4/p2P1p2/P2P1P2/8/8/K7 w - - {} 1"
    assert shown(address, fine.format(0))["result"] == "unknown"
    status, events = prove(address, fine.format(0))
    proof = events[-1][1]
    assert (status, events[-1][0], proof["result"], proof["words"]) == (200, "done", "white", "White wins"), events[-1]
    moves = {move["uci"]: (move["result"], move["words"]) for move in proof["moves"]}
    assert moves == {"a1b1": ("white", "White wins"), "a1a2": ("draw", "draw"), "a1b2": ("draw", "draw")}, moves
    assert proof["slices"] > 0 and proof["known"] >= proof["slices"] and proof["positions"] > 0

    # It is remembered, whatever the clock says, and so is what is behind the moves.
    again = shown(address, fine.format(5))
    assert (again["result"], again["words"], again["plies"]) == ("white", "White wins", None), again
    assert again["proof"]["slices"] == proof["slices"], again["proof"]
    assert "How White wins" in again["why"] and "Kb1!" in again["why"], again["why"]
    assert {"white": ["b1", "b3"], "black": ["a7", "c7"]} in again["corresponding"], again["corresponding"]
    assert [(move["uci"], move["result"]) for move in again["moves"]] == [("a1b1", "white"), ("a1a2", "draw"), ("a1b2", "draw")]
    behind = shown(address, "8/k7/3p4/p2P1p2/P2P1P2/8/8/1K6 b - - 1 1")
    assert (behind["result"], behind["proof"], "why" in behind) == ("white", None, False), behind
    assert "corresponding" not in behind, behind
    # The Lichess shape says what tables say.
    assert json.loads(get(address, "/standard?fen=" + urllib.parse.quote(fine.format(0)))[2])["category"] == "unknown"

    for wrong in ["x", "8/8/8/8/8/8/8/8 w - -", "", START]:
        assert prove(address, wrong)[0] == 400, wrong
    assert prove(address, QUEEN, headers={"Origin": "https://example.org"}) == (403, "origin")

    # Who goes away stops the work. Until then nothing else is proved.
    long = "2k5/3p1p2/2p3p1/1p2p3/p7/P1PPP1P1/1P3P2/2K5 w - - 0 1"

    def begun(event):
        assert event[0] == "progress" and event[1]["seconds_at_most"] == 600, event
        assert prove(address, QUEEN) == (409, "busy")
        return event[1]["slices"] > 2

    status, events = prove(address, long, enough=begun)
    assert status == 200 and events[-1][1]["words"], events[-1]
    end = time.monotonic() + 60
    while prove(address, QUEEN)[0] == 409:
        assert time.monotonic() < end, "the work goes on though nobody waits for it"
        time.sleep(0.2)
    print("proofs: found, refused and stopped")


def cors(address, origin):
    _, headers, _ = get(address, "/standard", fen=QUEEN)
    assert headers["access-control-allow-origin"] == origin
    request = urllib.request.Request(f"http://{address}/batch", method="OPTIONS")
    with urllib.request.urlopen(request, timeout=30) as answer:
        assert answer.status == 204 and "POST" in answer.headers["access-control-allow-methods"]
    print("cors: as asked")


ROOK_STEPS = [(1, 0), (-1, 0), (0, 1), (0, -1)]
KNIGHT_STEPS = [(1, 2), (2, 1), (-1, 2), (-2, 1), (1, -2), (2, -1), (-1, -2), (-2, -1)]


def name_of(square):
    return "abcdefgh"[square % 8] + str(square // 8 + 1)


def targets(square, steps, slides, other):
    """The squares that a man can go to; past the only other one it does not slide."""
    found = []
    for right, up in steps:
        file, rank = square % 8 + right, square // 8 + up
        while 0 <= file < 8 and 0 <= rank < 8:
            found.append(8 * rank + file)
            if not slides or found[-1] == other:
                break
            file, rank = file + right, rank + up
    return found


def suicide_moves(rook, knight, is_white):
    """The moves of rook against knight, as squares to go to: to take is compulsory."""
    own, other = (rook, knight) if is_white else (knight, rook)
    all_moves = targets(own, ROOK_STEPS if is_white else KNIGHT_STEPS, is_white, other)
    return [other] if other in all_moves else all_moves


def suicide_values():
    """What every position is worth to the side to move, and in how many plies, by the rules alone: who has no man
    left has won. No position is worth anything by itself, so what is not settled when nothing new is found is drawn.
    """
    places = [(rook, knight, white) for rook in range(64) for knight in range(64) for white in [True, False] if rook != knight]
    moves = {place: suicide_moves(*place) for place in places}
    before, left = defaultdict(list), {}
    values, frontier = {}, []
    for place in places:
        rook, knight, is_white = place
        other = knight if is_white else rook
        left[place] = len(moves[place])
        for square in moves[place]:
            if square == other:
                # The last man of the other side is taken, which has won.
                values[place] = ("loss", 1)
                frontier.append(place)
            else:
                after = (square, knight, False) if is_white else (rook, square, True)
                before[after].append(place)
    plies = 1
    while frontier:
        plies += 1
        found = []
        for place in frontier:
            for earlier in before[place]:
                left[earlier] -= 1
                if earlier in values:
                    continue
                if values[place][0] == "loss":
                    values[earlier] = ("win", plies)
                    found.append(earlier)
                elif left[earlier] == 0:
                    values[earlier] = ("loss", plies)
                    found.append(earlier)
        frontier = found
    return {place: values.get(place, ("draw", 0)) for place in places}


def fen_of(place):
    rook, knight, is_white = place
    men = {rook: "R", knight: "n"}
    ranks = ["".join(men.get(8 * rank + file, "1") for file in range(8)) for rank in reversed(range(8))]
    return "/".join(ranks) + (" w" if is_white else " b") + " - - 0 1"


def told(result, plies):
    """The distance as tables of suicide chess count: the move that takes the last man counts for two."""
    return {"win": plies + 1, "loss": -plies - 1, "draw": 0}[result]


def check_suicide_position(answer, place, values):
    """Result and distance of a position and of all of its moves, and that the best ones come first."""
    rook, knight, is_white = place
    result, plies = values[place]
    signed = told(result, plies)
    check_shape(answer)
    assert (answer["category"], answer["dtm"], answer["dtw"]) == (result, None, signed), (place, answer, result, plies)
    own, other = (rook, knight) if is_white else (knight, rook)
    moves = suicide_moves(*place)
    assert sorted(move["uci"] for move in answer["moves"]) == sorted(name_of(own) + name_of(square) for square in moves)
    ranks = []
    for move in answer["moves"]:
        square = "abcdefgh".index(move["uci"][2]) + 8 * (int(move["uci"][3]) - 1)
        assert move["conversion"] == move["zeroing"] == (square == other), move
        if square == other:
            # The game is over: the side that is to move has no man, and has won.
            assert move["variant_win"] and not move["variant_loss"], move
            assert (move["category"], move["dtw"]) == ("win", None), move
            ranks.append(0)
            continue
        after = (square, knight, False) if is_white else (rook, square, True)
        result, plies = values[after]
        signed = told(result, plies)
        assert (move["category"], move["dtw"]) == (result, signed), (place, move, result, plies)
        # Quick wins first, then draws, then slow losses.
        ranks.append({"loss": plies - 1000, "draw": 0, "win": 1000 - plies}[result])
    assert ranks == sorted(ranks), (place, ranks)


def check_suicide_line(address, place, values):
    """Best play, which ends when it should, with the move that takes the last man."""
    status, _, body = get(address, "/suicide/mainline", fen=fen_of(place))
    answer = json.loads(body)
    result, plies = values[place]
    turn, other = ("w", "b") if place[2] else ("b", "w")
    winner = {"win": turn, "loss": other, "draw": None}[result]
    assert status == 200 and answer["winner"] == winner, (place, answer)
    assert len(answer["mainline"]) == plies and answer["hoffman"]["dtm"] is None, (place, plies, answer)
    for ply, move in enumerate(answer["mainline"]):
        rook, knight, is_white = place
        assert set(move) == {"uci", "san", "dtz", "precise_dtz"}, move
        assert values[place][1] == plies - ply, (place, values[place])
        square = "abcdefgh".index(move["uci"][2]) + 8 * (int(move["uci"][3]) - 1)
        assert square in suicide_moves(*place), (place, move)
        if ply == plies - 1:
            assert "x" in move["san"] and square == (knight if is_white else rook), move
        place = (square, knight, False) if is_white else (rook, square, True)


def suicide(address):
    values = suicide_values()
    results = {name: sum(value[0] == name for value in values.values()) for name in ["win", "draw", "loss"]}
    longest = max(plies for _, plies in values.values())
    decided = [place for place, value in values.items() if value[1] > 1]
    assert min(results["win"], results["loss"]) > 2000 and longest == 5, (results, longest)

    # New tables are seen within seconds.
    end = time.monotonic() + 60
    while get(address, "/suicide", fen=fen_of((9, 37, True)))[0] == 404:
        assert time.monotonic() < end, "the new table is not seen"
        time.sleep(0.2)

    rng = random.Random(7)
    farthest = [place for place, value in values.items() if value[1] >= longest - 1]
    for place in rng.sample(list(values), 150) + rng.sample(decided, 100) + farthest[:20]:
        status, headers, body = get(address, "/suicide", fen=fen_of(place).replace(" ", rng.choice(" _")))
        assert status == 200 and headers["content-type"] == "application/json", (place, status, body)
        check_suicide_position(json.loads(body), place, values)
    for place in rng.sample(decided, 50) + rng.sample(list(values), 20) + farthest[:20]:
        check_suicide_line(address, place, values)

    # A side without men has won, and there is nothing more to play.
    over = json.loads(get(address, "/suicide", fen="8/8/8/8/8/8/8/R7 b - - 0 1")[2])
    check_shape(over)
    assert (over["variant_win"], over["category"], over["moves"], over["dtw"]) == (True, "win", [], None), over
    lost = json.loads(get(address, "/suicide", fen="8/8/8/8/8/8/8/R7 w - - 0 1")[2])
    assert lost["variant_loss"] and lost["category"] == "loss" and not lost["variant_win"], lost
    # What no table has is no error, as in chess; its main line is not known.
    unknown = "8/8/8/5n2/8/8/1Q6/8 w - - 0 1"
    answer = json.loads(get(address, "/suicide", fen=unknown)[2])
    check_shape(answer)
    assert answer["category"] == "unknown" and answer["moves"] and answer["dtw"] is None, answer
    assert get(address, "/suicide/mainline", fen=unknown)[0] == 404

    for fen in ["P7/8/8/5n2/8/8/8/8 w - - 0 1", "8/8/8/8/8/8/8/8 w - - 0 1", "8/8/8/5n2/8/8/1R6 w", "x", ""]:
        for path in ["/suicide", "/suicide/mainline"]:
            status, headers, body = get(address, path, fen=fen)
            assert status == 400 and headers["content-type"].startswith("text/plain"), (fen, path, status, body)
            assert body.count("\n") == 1 and "/" not in body.split("'")[0], body

    # Tables of chess lie beside, and neither answers for the other.
    queen = json.loads(get(address, "/standard", fen=QUEEN)[2])
    assert (queen["category"], queen["dtm"], queen["dtw"]) == ("win", 19, None), queen
    assert get(address, "/standard", fen=fen_of((9, 37, True)))[0] == 400
    kings = json.loads(get(address, "/suicide", fen=QUEEN)[2])
    assert kings["category"] == "unknown" and kings["dtm"] is None, kings
    variants = {table["name"]: table["variant"] for table in json.loads(get(address, "/tables")[2])}
    assert variants["suicide-rook-knight.htb"] == "suicide" and variants["kqk.htb"] == "standard", variants
    print(f"suicide: as the rules have it, {results}, longest {longest} plies")


def answers(address, hoffman, tables):
    check_positions(address, hoffman, tables)
    check_unknown(address)
    check_main_line(address)
    check_batch(address)
    check_others(address)
    check_description(address)
    check_nothing_outside(address)
    # One connection serves many requests.
    connection = http.client.HTTPConnection(address, timeout=30)
    for _ in range(100):
        connection.request("GET", "/standard?fen=" + QUEEN.replace(" ", "_"))
        answer = connection.getresponse()
        assert answer.status == 200 and len(answer.read()) > 1000
    print("answers: as expected")


if __name__ == "__main__":
    what, address, *rest = sys.argv[1:]
    if what in ["malformed", "slow"]:
        rest = [int(rest[0])]
    {"answers": answers, "malformed": malformed, "slow": slow, "limits": limits, "cors": cors, "builds": builds,
     "proofs": proofs, "suicide": suicide, "counts": counts, "uncounted": uncounted, "stops": stops}[what](address, *rest)
