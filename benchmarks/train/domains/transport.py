"""Transport: packages are carried along a line; the last road bears one package, and the truck drives back empty."""

from __future__ import annotations

import numpy as np

from . import Domain, generate


def make(packages: int, locations: int) -> Domain:
    """The line of the papers."""
    model, arguments = generate("transport", packages=packages, locations=locations)
    observed = model.observed
    loads = [observed.index(f"location_load_{location}") for location in range(locations)]
    truck, load = observed.index("truck_0"), observed.index("truck_load_0")
    labels = ["pick_up_truck_0", "drop_truck_0", "drive_forward", "drive_backward"]
    pick, drop, forward, backward = (model.labels.index(label) for label in labels)
    bridge, last = locations - 2, locations - 1
    ways = np.arange(locations)

    def potential(observations: np.ndarray) -> np.ndarray:
        carried = observations[:, truck] * observations[:, load]
        return (observations[:, loads] @ ways + carried) / (packages * last)

    def teacher(observation: np.ndarray, mask: np.ndarray) -> int:
        at, carried = int(observation[truck]), int(observation[load])
        here = int(observation[loads[at]])
        is_behind = observation[loads[: min(at, bridge)]].any()
        if at == last:
            return drop if carried else backward
        if at == bridge:
            if carried > 1:
                return drop
            if carried == 0 and is_behind:
                return backward
            return pick if carried == 0 and here else forward
        if here:
            return pick
        return backward if carried == 0 and is_behind else forward

    inputs = [name for name in observed if name != "last_capacity_diff"]
    return Domain(
        model,
        arguments,
        max_steps=250,
        is_filtered=True,
        potential=potential,
        teacher=teacher,
        inputs={"all": inputs},
    )
