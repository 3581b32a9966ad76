"""The instances of `bench/ic3` and `bench/ic3-ablation`: generated domains, random policies with and without a shield."""

import subprocess
from dataclasses import dataclass, replace
from pathlib import Path

from . import shield

KINDS = ("network", "forest", "boosted")


@dataclass(frozen=True)
class Domain:
    """A generated model: the arguments of `surefoot gen`, the name of its files, the rules of its shield, and the reading."""

    arguments: tuple
    file: str
    rules: tuple
    reading: tuple = ()


@dataclass(frozen=True)
class Instance:
    """A name, the domain it belongs to, and the arguments of `surefoot verify` without engine and limits."""

    name: str
    domain: str
    arguments: tuple


def blocksworld(blocks):
    limit = blocks - 1
    # One more block on the table is unsafe.
    rules = (("choose_table", {"table-counter": (limit, blocks)}),)
    arguments = ("blocksworld", "--blocks", blocks, "--table-limit", limit)
    return Domain(arguments, f"blocksworld_{blocks}_{limit}", rules)


def npuzzle():
    # Tile 3 moves to position 7 from the left, from the right and from above.
    rules = tuple(
        (label, {"tile_3": (position, position), "empty": (7, 7)})
        for label, position in (("move_left", 6), ("move_right", 8), ("move_up", 4))
    )
    return Domain(("npuzzle",), "npuzzle_3_3", rules)


def transport(packages, locations):
    before = locations - 2
    rules = (
        ("drive_backward", {"truck_load_0": (1, 15)}),
        ("drive_forward", {"truck_0": (before, before), "truck_load_0": (2, 15)}),
    )
    arguments = ("transport", "--packages", packages, "--locations", locations)
    return Domain(arguments, f"transport_{packages}_{locations}", rules)


def one_way_line(packages, locations, top_speed=3):
    # From location l with velocity v the truck gets to l + v with velocity w, and needs w + (w - 1) + … + 1 more to stop.
    rules = []
    for speed in range(top_speed + 1):
        for label, after in (("acc", min(speed + 1, top_speed)), ("move", speed)):
            last = locations - 1 - speed - after * (after + 1) // 2
            if after > 0:
                rules.append((label, {"truck_vel_0": (speed, speed), "truck_0": (last + 1, locations - 1)}))
    arguments = ("one-way-line", "--packages", packages, "--locations", locations)
    return Domain(arguments, f"one_way_line_{packages}_{locations}", tuple(rules))


def beluga(jigs, swaps=6, racks=2):
    labels = [f"push_{side}_rack_{rack}" for side in ("front", "back") for rack in range(racks)]
    rules = tuple((label, {"num_swaps": (swaps - 1, swaps)}) for label in labels)
    return Domain(("beluga", "--jigs", jigs), f"beluga_{jigs}_{racks}", rules)


def block(domain):
    """The same where an update that leaves a domain is no transition, instead of an error that is to be excluded.

    Packages are moved one by one and no variable counts them all. That none of the others leaves its domain takes an invariant
    about a sum, and boxes have none.
    """
    return replace(domain, reading=("--out-of-domain", "block"))


DOMAINS = {
    **{f"blocksworld {blocks}": blocksworld(blocks) for blocks in range(4, 9)},
    "npuzzle 3x3": npuzzle(),
    "transport 4x4": transport(4, 4),
    "transport 15x10": transport(15, 10),
    "transport 15x10, block": block(transport(15, 10)),
    "one-way-line 4x5": one_way_line(4, 5),
    "one-way-line 15x10": one_way_line(15, 10),
    "one-way-line 15x10, block": block(one_way_line(15, 10)),
    **{f"beluga {jigs}": beluga(jigs) for jigs in range(4, 7)},
}


def generated(program, folder, domains, seeds, hidden):
    """Generates models and policies; yields the instances."""

    def generate(*arguments):
        command = [str(program), "gen", *map(str, arguments), "--out", str(folder)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)

    for title in domains:
        domain = DOMAINS[title]
        generate(*domain.arguments)
        model = folder / f"{domain.file}.jani"
        for kind in KINDS:
            for seed in range(seeds):
                for is_shielded in (False, True):
                    name = f"{domain.file}_{kind}_{seed}" + ("_shield" if is_shielded else "")
                    interface = folder / (name + (".jani2nnet" if kind == "network" else ".interface.json"))
                    if not interface.exists():
                        generate("policy", model, "--kind", kind, "--seed", seed, "--hidden", hidden, "--name", name)
                        if is_shielded:
                            shield.add(interface, domain.rules)
                    for filter in ("off", "on"):
                        words = [kind, str(seed)] + ["shield"] * is_shielded + ["filter"] * (filter == "on")
                        arguments = (
                            model, "--property", model.with_suffix(".property.jani"), "--policy", interface,
                            "--filter", filter, *domain.reading,
                        )
                        yield Instance(f"{title}, {' '.join(words)}", title, arguments)


def published(data):
    """The published instances with their networks, from a folder of yours."""
    def find(pattern):
        found = sorted(Path(data).rglob(pattern))
        if not found:
            raise SystemExit(f"there is no {pattern} in {data}")
        return found[0]

    bound = "failing_probability=0.5,item_cost_bound=50"
    small = (
        find("blocksworld_4_3.jani"), "--policy", find("blocksworld_4_3_*.jani2nnet"), "--const", bound,
    )
    large = (
        find("blocksworld_6_5.jani"), "--policy", find("blocksworld_6_5_*.jani2nnet"),
        "--property", find("pa_*blocksworld_6_5*.jani"), "--property", 1,
    )
    for title, task in (("blocksworld_4_3, cost bound 50", small), ("blocksworld_6_5", large)):
        for words, settings in (
            ("no filter", ("--filter", "off")),
            ("filter", ("--filter", "on")),
            ("filter, goal terminal", ("--filter", "on", "--goal", "terminal")),
        ):
            yield Instance(f"{title}, {words}", "published", (*task, *settings))
