"""Writes `cases.json` of a fixture. See README.md."""

import json

import numpy

PRECISIONS = {"float32": ("f32", "uint32"), "float64": ("f64", "uint64")}


def write(place, library, states, scores, derived=(), choices=None, **facts):
    """Writes states and what `library`, a module, computes for them.

    `scores` has a row per state; its precision says in which arithmetic the library computes. Columns in `derived` are
    left out. `choices` has an output or None per state. `facts` go into the file as they are.
    """
    arithmetic, bits = PRECISIONS[scores.dtype.name]
    digits = 2 * scores.dtype.itemsize
    words = numpy.ascontiguousarray(scores).view(bits)
    lines = []
    for index, (state, row) in enumerate(zip(states, words)):
        case = {"state": [int(value) for value in state]}
        case["scores"] = [None if output in derived else f"{word:0{digits}x}" for output, word in enumerate(row)]
        if choices is not None and choices[index] is not None:
            case["choice"] = int(choices[index])
        lines.append(json.dumps(case))
    version = f"{library.__name__} {library.__version__}"
    head = {"library": version, "arithmetic": arithmetic, "inputs": len(states[0]), "outputs": scores.shape[1], **facts}
    text = json.dumps(head)[:-1] + ', "cases": [\n' + ",\n".join(lines) + "\n]}\n"
    (place / "cases.json").write_text(text)
