"""A small canvas: rectangles and numbers on an array of pixels."""

from __future__ import annotations

from typing import Tuple

import numpy as np

Colour = Tuple[int, int, int]

WHITE: Colour = (250, 250, 250)
BLACK: Colour = (40, 40, 40)
GREY: Colour = (190, 190, 190)
RED: Colour = (200, 60, 50)
GREEN: Colour = (60, 150, 80)
PALETTE: Tuple[Colour, ...] = (
    (86, 130, 190),
    (214, 140, 60),
    (110, 165, 100),
    (180, 90, 140),
    (140, 120, 190),
    (90, 170, 175),
    (190, 170, 80),
    (150, 110, 90),
)

#: Digits and a minus sign, three pixels wide and five high: a row in three bits, the first row in the highest.
_GLYPHS = {
    "0": 0b111_101_101_101_111,
    "1": 0b010_110_010_010_111,
    "2": 0b111_001_111_100_111,
    "3": 0b111_001_111_001_111,
    "4": 0b101_101_111_001_001,
    "5": 0b111_100_111_001_111,
    "6": 0b111_100_111_101_111,
    "7": 0b111_001_010_010_010,
    "8": 0b111_101_111_101_111,
    "9": 0b111_101_111_001_111,
    "-": 0b000_000_111_000_000,
}


class Canvas:
    """An image in which rectangles and numbers are drawn. Places are columns and rows of pixels from the upper left."""

    def __init__(self, width: int, height: int) -> None:
        self.pixels = np.empty((height, width, 3), np.uint8)
        self.pixels[:] = WHITE

    def rectangle(self, x: int, y: int, width: int, height: int, colour: Colour, frame: bool = True) -> None:
        """A filled rectangle."""
        area = self.pixels[max(y, 0) : y + height, max(x, 0) : x + width]
        area[:] = colour
        if frame and min(area.shape[:2]) > 2:
            area[[0, -1], :] = BLACK
            area[:, [0, -1]] = BLACK

    def number(self, x: int, y: int, number: int, colour: Colour = BLACK, scale: int = 3) -> None:
        """A number whose middle is at a place."""
        text = str(number)
        left, top = x - (4 * len(text) - 1) * scale // 2, y - 5 * scale // 2
        for position, character in enumerate(text):
            bits = _GLYPHS[character]
            for index in range(15):
                if bits >> (14 - index) & 1:
                    row, column = divmod(index, 3)
                    corner = left + (4 * position + column) * scale, top + row * scale
                    self.rectangle(*corner, scale, scale, colour, frame=False)
