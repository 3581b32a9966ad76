"""The policies of the suite: which domain, which shape, which seed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import List, Tuple, Union

from domains import Domain, beluga, blocksworld, npuzzle, transport
from qlearning import Settings


@dataclass(frozen=True)
class Network:
    """A network that Q-learning makes."""

    name: str
    domain: str
    kind: str
    hidden: Tuple[int, ...]
    seed: int = 0
    settings: Settings = Settings()


@dataclass(frozen=True)
class Trees:
    """An ensemble that imitates a network."""

    name: str
    imitated: str
    library: str
    depth: int
    trees: int
    seed: int = 0


Row = Union[Network, Trees]

BLOCKS = (4, 6, 8, 10)
SIZES = (16, 32, 64)

#: Library, depth, trees, and whether the imitated network sees costs.
ENSEMBLES = (
    ("forest", 6, 5, "no-cost"),
    ("forest", 10, 10, "cost"),
    ("forest", 15, 30, "no-cost"),
    ("xgboost", 4, 10, "cost"),
    ("xgboost", 8, 20, "no-cost"),
    ("lightgbm", 6, 10, "cost"),
)

#: The same for transport, where shallow trees learn nothing.
TRANSPORT_ENSEMBLES = (
    ("forest", 15, 5),
    ("forest", 10, 10),
    ("forest", 15, 30),
    ("xgboost", 4, 30),
    ("xgboost", 8, 20),
    ("lightgbm", 6, 10),
)


@lru_cache(maxsize=None)
def domain(name: str) -> Domain:
    """A domain by name: `blocksworld-4`, `npuzzle`, `transport`, `beluga-5`."""
    family, _, number = name.partition("-")
    if family == "blocksworld":
        return blocksworld.make(int(number))
    if family == "beluga":
        return beluga.make(int(number))
    return {"npuzzle": npuzzle.make, "transport": lambda: transport.make(15, 10)}[name]()


def networks() -> List[Network]:
    """All networks."""
    rows = []
    for blocks in BLOCKS:
        for kind in ("cost", "no-cost"):
            settings = Settings(updates=400 + 160 * blocks)
            # Of many blocks, some policies learn rare start states with care. The others meet them by chance, or not at all.
            if blocks >= 8 and kind == "no-cost":
                settings = Settings(updates=1000 * blocks - 3000, is_hard=True, demonstrations=20_000)
            for size in SIZES:
                name = f"blocksworld-{blocks}-{kind}-{size}"
                rows.append(Network(name, f"blocksworld-{blocks}", kind, (size, size), 0, settings))
    long = Settings(
        updates=45_000,
        batch=1024,
        runs=512,
        discount=0.9,
        demonstrations=40_000,
        noise=0.5,
        share=0.1,
        margin=0.2,
        softness=0.1,
        help=0.3,
        dangers=256,
        capacity=1_000_000,
        trials=8,
    )
    for kind in ("cost", "no-cost"):
        for size in SIZES:
            rows.append(Network(f"npuzzle-{kind}-{size}", "npuzzle", kind, (size, size), 0, long))
    # The others are never seen to do harm.
    careless = replace(long, updates=12_000, dangers=0)
    rows.append(Network("npuzzle-no-cost-64-careless", "npuzzle", "no-cost", (64, 64), 0, careless))
    settings = Settings(updates=2400, discount=0.98)
    for size, seed in ((16, 0), (32, 0), (64, 0), (32, 1), (64, 1)):
        suffix = f"-seed-{seed}" if seed else ""
        rows.append(Network(f"transport-{size}{suffix}", "transport", "all", (size, size), seed, settings))
    for jigs, size in ((4, 64), (5, 64), (6, 256)):
        rows.append(Network(f"beluga-{jigs}-{size}", f"beluga-{jigs}", "all", (size, size), 0, Settings(updates=2400)))
    return rows


#: Networks that are also made by a much shorter training, and its updates, where nearly all trained policies have the same verdict.
SHORT = (
    ("blocksworld-4-cost-32", 90),
    ("blocksworld-4-no-cost-32", 60),
    ("blocksworld-6-cost-32", 120),
    ("blocksworld-6-no-cost-64", 120),
    ("beluga-4-64", 200),
)


def short(rows: List[Network]) -> List[Network]:
    """The networks of short trainings."""
    by_name = {row.name: row for row in rows}

    def stopped(name: str, updates: int) -> Network:
        row = by_name[name]
        return replace(row, name=f"{name}-short", settings=replace(row.settings, updates=updates))

    return [stopped(name, updates) for name, updates in SHORT]


def ensembles() -> List[Trees]:
    """All tree ensembles."""
    rows = []
    for blocks in (4, 6, 8):
        for library, depth, trees, kind in ENSEMBLES:
            name = f"blocksworld-{blocks}-{library}-{depth}x{trees}"
            rows.append(Trees(name, f"blocksworld-{blocks}-{kind}-64", library, depth, trees))
    for library, depth, trees in TRANSPORT_ENSEMBLES:
        rows.append(Trees(f"transport-{library}-{depth}x{trees}", "transport-64", library, depth, trees))
    shapes = ((4, 64, (15, 30), (8, 20)), (5, 64, (10, 20), (8, 20)), (6, 256, (10, 20), (6, 10)))
    for jigs, size, forest, boosted in shapes:
        for library, (depth, trees) in (("forest", forest), ("xgboost", boosted)):
            rows.append(Trees(f"beluga-{jigs}-{library}-{depth}x{trees}", f"beluga-{jigs}-{size}", library, depth, trees))
    return rows


def every() -> List[Row]:
    """All policies, networks before what imitates them."""
    first = networks()
    return [*first, *short(first), *ensembles()]
