"""Beluga: jigs come off a plane in a fixed order, wait on racks, and are sent to two lines in the orders of these."""

from __future__ import annotations

import numpy as np

from . import Domain, generate

#: The orders of the lines and the pushes after which no further one is possible, by the number of jigs.
INSTANCES = {4: ((0, 3), (2, 1), 6), 5: ((0, 3, 4), (2, 1), 8), 6: ((0, 3, 4), (2, 1, 5), 9)}


def make(jigs: int) -> Domain:
    """Beluga with two racks."""
    line_0, line_1, swaps = INSTANCES[jigs]
    model, arguments = generate("beluga", jigs=jigs, racks=2, line_0=line_0, line_1=line_1, max_swaps=swaps)
    teacher = Teacher(jigs, (line_0, line_1), model.observed, model.labels)
    return Domain(
        model,
        arguments,
        max_steps=30 + 10 * jigs,
        is_filtered=True,
        potential=teacher.potential,
        teacher=teacher,
        inputs={"all": list(model.observed)},
    )


class Teacher:
    """Sends what is asked for as soon as it can; new jigs go to an end of a rack where they bury none that is needed earlier."""

    def __init__(self, jigs, lines, observed, labels):
        self.jigs = jigs
        self.place = [observed.index(f"jig_{jig}") for jig in range(jigs)]
        self.front = [observed.index(f"front_rack_{rack}") for rack in range(2)]
        self.back = [observed.index(f"back_rack_{rack}") for rack in range(2)]
        self.behind = [observed.index(f"back_jig_{jig}") for jig in range(jigs)]
        self.next = observed.index("next_jig")
        self.action = {label: index for index, label in enumerate(labels)}
        self.turn = {jig: turn for line in lines for turn, jig in enumerate(line)}

    def potential(self, observations: np.ndarray) -> np.ndarray:
        """The share of jigs that were delivered, and a little for those that left the plane."""
        places = observations[:, self.place]
        is_delivered, is_unloaded = places == self.jigs + 4, places >= self.jigs
        return (is_delivered.sum(axis=1) + 0.2 * is_unloaded.sum(axis=1)) / (1.2 * self.jigs)

    def __call__(self, observation: np.ndarray, mask: np.ndarray) -> int:
        places = [int(place) for place in observation[self.place]]
        trailer, truck = self.jigs + 2, self.jigs + 3
        wanted = int(observation[self.next])
        racks = [self.rack(observation, rack) for rack in range(2)]
        if truck in places:
            if places.index(truck) == wanted and mask[self.action["send_to_factory"]]:
                return self.action["send_to_factory"]
            if mask[self.action["unload_truck_0"]]:
                return self.action["unload_truck_0"]
        else:
            for rack, order in enumerate(racks):
                for side, end in (("front", 0), ("back", -1)):
                    if order and order[end] == wanted:
                        return self.action[f"pop_{side}_rack_{rack}"]
        if trailer in places:
            return self.push(places.index(trailer), racks, wanted, mask)
        # What is asked for may be buried: then the jig above it on the shorter side makes room.
        for rack, order in enumerate(racks):
            if wanted in order and truck not in places:
                side = "front" if order.index(wanted) < len(order) / 2 else "back"
                return self.action[f"pop_{side}_rack_{rack}"]
        if mask[self.action["unload_beluga_0"]]:
            return self.action["unload_beluga_0"]
        return int(np.flatnonzero(mask)[0])

    def rack(self, observation, rack):
        """The jigs of a rack from front to back."""
        order, jig = [], int(observation[self.front[rack]])
        while jig >= 0 and jig not in order:
            order.append(jig)
            jig = int(observation[self.behind[jig]])
        return order

    def push(self, jig, racks, wanted, mask):
        """Where a jig of the trailer goes: of all ends the one that buries what is needed last."""

        def harm(rack, end):
            order = racks[rack]
            if len(order) < 2:
                return (0, len(order))
            buried = order[end]
            return (1 + (buried == wanted) + (len(self.turn) - self.turn[buried]) / len(self.turn), len(order))

        ends = [(harm(rack, end), rack, side) for rack in range(2) for side, end in (("front", 0), ("back", -1))]
        for _, rack, side in sorted(ends):
            action = self.action[f"push_{side}_rack_{rack}"]
            if mask[action]:
                return action
        return int(np.flatnonzero(mask)[0])
