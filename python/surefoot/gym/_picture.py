"""Images of states of the domains that :func:`surefoot.generate` makes."""

from __future__ import annotations

import re
from typing import Any, Callable, Dict, List, Mapping, Optional

import numpy as np

from .._errors import UsageError
from .._model import Model
from ._canvas import BLACK, GREEN, GREY, PALETTE, RED, Canvas

State = Mapping[str, Any]
Painter = Callable[[State], np.ndarray]

#: Side of a cell.
CELL = 40


def painter(model: Model) -> Painter:
    """What draws states of a model. Its domain is seen from the names of its variables."""
    names = {variable.name for variable in model.variables}
    for needed, make in _DOMAINS:
        if all(name in names for name in needed):
            return make(model)
    raise UsageError(
        f"there are no images of states of `{model.name}`, only of the domains of `surefoot.generate`\n"
        "  hint: pass `render_mode='ansi'`"
    )


def _numbered(model: Model, prefix: str) -> List[str]:
    """Variables ``prefix0``, ``prefix1``, …"""
    pattern = re.compile(re.escape(prefix) + r"\d+")
    return [variable.name for variable in model.variables if pattern.fullmatch(variable.name)]


# Blocksworld


def _blocksworld(model: Model) -> Painter:
    blocks = _numbered(model, "block_")
    below = _encoding(model, blocks)

    def paint(state: State) -> np.ndarray:
        count = len(blocks)
        canvas = Canvas((count + 1) * CELL, (count + 2) * CELL)
        canvas.rectangle(0, (count + 2) * CELL - 6, (count + 1) * CELL, 6, BLACK, frame=False)
        under = below(state)
        columns: Dict[int, int] = {}
        for block in (block for block in range(count) if under[block] == "table"):
            columns[block] = len(columns)
        for block in range(count):
            # The block at the bottom of the tower says the column, the number of blocks under it the height.
            bottom, height = block, 0
            while isinstance(under[bottom], int) and height <= count:
                bottom, height = under[bottom], height + 1
            if under[bottom] == "hand":
                x, y = count * CELL, 4 - height * CELL
            else:
                x, y = columns.get(bottom, 0) * CELL, (count + 1 - height) * CELL - 6
            canvas.rectangle(x + 2, y, CELL - 4, CELL, PALETTE[block % len(PALETTE)])
            canvas.number(x + CELL // 2, y + CELL // 2, block)
        return canvas.pixels

    return paint


def _encoding(model: Model, blocks: List[str]) -> Callable[[State], List[Any]]:
    """What is under each block: ``"hand"``, ``"table"`` or a block. The two encodings differ in the numbers."""

    def legacy(state: State) -> List[Any]:
        def under(block: int, value: int) -> Any:
            return ("hand", "table")[value] if value < 2 else value - 2 if value - 2 < block else value - 1

        return [under(block, state[name]) for block, name in enumerate(blocks)]

    def direct(state: State) -> List[Any]:
        def under(block: int, value: int) -> Any:
            return "table" if value == 0 else "hand" if value == block + 1 else value - 1

        return [under(block, state[name]) for block, name in enumerate(blocks)]

    def fits(encoding: Callable[[State], List[Any]], state: State) -> bool:
        under = encoding(state)
        on_table, in_hand = under.count("table"), under.count("hand")
        return on_table == state["table-counter"] and in_hand == 1 - state["hand-empty"]

    from .._run import simulate

    states = [state for episode in simulate(model, None, episodes=20, steps=5).episodes for state in episode.trace]
    return legacy if all(fits(legacy, state) for state in states) else direct


# Sliding puzzles


def _npuzzle(model: Model) -> Painter:
    tiles = _numbered(model, "tile_")
    size = re.search(r"_(\d+)_(\d+)", model.name)
    side = int(np.sqrt(len(tiles) + 1))
    width, height = (int(size[1]), int(size[2])) if size else (side, (len(tiles) + 1) // side)

    def paint(state: State) -> np.ndarray:
        canvas = Canvas(width * CELL, height * CELL)
        for number, name in enumerate(tiles, 1):
            y, x = divmod(state[name], width)
            canvas.rectangle(x * CELL + 1, y * CELL + 1, CELL - 2, CELL - 2, PALETTE[number % len(PALETTE)])
            canvas.number(x * CELL + CELL // 2, y * CELL + CELL // 2, number)
        return canvas.pixels

    return paint


# Transport and lines


def _transport(model: Model) -> Painter:
    locations = _numbered(model, "location_load_")

    def paint(state: State) -> np.ndarray:
        canvas = Canvas(len(locations) * CELL, 3 * CELL)
        canvas.rectangle(0, 3 * CELL - 6, len(locations) * CELL, 6, BLACK, frame=False)
        for index, name in enumerate(locations):
            canvas.rectangle(index * CELL + 6, CELL + 20, CELL - 12, CELL - 20, GREY)
            canvas.number(index * CELL + CELL // 2, CELL + 30, state[name], scale=2)
        x = state["truck_0"] * CELL
        canvas.rectangle(x + 2, 2 * CELL + 6, CELL - 4, CELL - 14, PALETTE[0])
        canvas.number(x + CELL // 2, 2 * CELL + 18, state["truck_load_0"], scale=2)
        if "truck_vel_0" in state:
            canvas.number(x + CELL // 2, CELL // 2, state["truck_vel_0"], RED, scale=2)
        return canvas.pixels

    return paint


# Beluga


def _beluga(model: Model) -> Painter:
    jigs = _numbered(model, "jig_")
    racks = _numbered(model, "rack_load_")

    def paint(state: State) -> np.ndarray:
        count = len(jigs)
        # From above: the plane, the racks, trailer, truck, and what is delivered.
        rows = len(racks) + 4
        canvas = Canvas(max(count, 2) * CELL, rows * CELL)
        places: Dict[int, List[int]] = {}
        for jig, name in enumerate(jigs):
            places.setdefault(state[name], []).append(jig)
        for place, held in places.items():
            if place < count:
                row, order = 0, {held[0]: place}
            else:
                row = 1 + place - count
                order = {jig: column for column, jig in enumerate(_rack(state, held, place - count))}
            for jig, column in order.items():
                canvas.rectangle(column * CELL + 2, row * CELL + 2, CELL - 4, CELL - 4, PALETTE[jig % len(PALETTE)])
                canvas.number(column * CELL + CELL // 2, row * CELL + CELL // 2, jig)
        for row in range(1, rows):
            canvas.rectangle(0, row * CELL, max(count, 2) * CELL, 1, GREY, frame=False)
        return canvas.pixels

    return paint


def _rack(state: State, held: List[int], rack: int) -> List[int]:
    """The jigs of a rack from front to back."""
    jig: Optional[int] = state.get(f"front_rack_{rack}")
    order: List[int] = []
    while jig in held and jig not in order:
        order.append(jig)
        jig = state.get(f"back_jig_{jig}")
    return order + [jig for jig in held if jig not in order]


# Racetrack


def _racetrack(model: Model) -> Painter:
    width, height = (int(model.variable(name).upper) + 1 for name in ("x", "y"))

    def paint(state: State) -> np.ndarray:
        canvas = Canvas(width * CELL, height * CELL)
        for x in range(width):
            for y in range(height):
                canvas.rectangle(x * CELL, y * CELL, CELL, CELL, (235, 235, 235))
        colour = RED if state["crashed"] else GREEN if state["finished"] else PALETTE[0]
        x, y = state["x"] * CELL, state["y"] * CELL
        canvas.rectangle(x + 6, y + 6, CELL - 12, CELL - 12, colour)
        # The velocity, as a dot in its direction.
        dot = x + CELL // 2 - 3 + 5 * state["dx"], y + CELL // 2 - 3 + 5 * state["dy"]
        canvas.rectangle(*dot, 6, 6, BLACK, frame=False)
        return canvas.pixels

    return paint


_DOMAINS = [
    (("hand-empty", "table-counter", "block_0"), _blocksworld),
    (("empty", "tile_1"), _npuzzle),
    (("location_load_0", "truck_0", "truck_load_0"), _transport),
    (("jig_0", "front_rack_0", "next_jig"), _beluga),
    (("x", "y", "dx", "dy", "crashed", "finished"), _racetrack),
]
