"""A terminal screen as a PNG: ``tmux capture-pane -p -e | python tests/picture.py OUT.png [COLSxROWS]``."""

from __future__ import annotations

import re
import sys
from fnmatch import fnmatch
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from PIL import Image, ImageDraw, ImageFont

from covey import cells

SIZE = 18  # pixels of the letters
MARGIN = 8  # pixels around the screen
INK, PAPER = (0xD8, 0xDB, 0xE2), (0x16, 0x18, 0x1D)
PALETTE = (
    "2a2e36 e05561 8cc265 d18f52 4aa5f0 c162de 42b3c2 c8ccd4 5c6370 ff616e a5e075 f0a45d 4dc4ff de73ff 4cd1e0 ffffff"
)
SIXTEEN = [tuple(bytes.fromhex(code)) for code in PALETTE.split()]
STEPS = (0, 95, 135, 175, 215, 255)  # of the 6x6x6 cube, as xterm has them
FOLDERS = (
    "/usr/share/fonts",
    "/usr/local/share/fonts",
    "~/.local/share/fonts",
    "~/.fonts",
    "/Library/Fonts",
    "/System/Library/Fonts",
)
MONO = ("DejaVuSansMono", "LiberationMono-Regular", "NotoSansMono-Regular", "UbuntuMono-R", "FreeMono", "Menlo", "cour")
BOLD = ("DejaVuSansMono-Bold", "LiberationMono-Bold", "NotoSansMono-Bold", "UbuntuMono-B", "FreeMonoBold")
OTHER = (
    "NotoSansMonoCJK*",
    "NotoSansCJK*",
    "wqy-*",
    "DroidSansFallback*",
    "unifont*",
    "NotoEmoji*",
    "Symbola",
    "DejaVuSans",
)
LINE_DRAWING = dict(zip("jklmnqtuvwxa`~fgos", "┘┐┌└┼─├┤┴┬│▒◆·°±⎺⎽", strict=True))
TOKEN = re.compile(
    r"\x1b\[([0-9;:]*)m|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[()][A-Z0-9]|\x1b\[[^@-~]*[@-~]|([\x0e\x0f\n])|(.)",
    re.DOTALL,
)

Colour = tuple[int, ...]
Font = ImageFont.FreeTypeFont


class Style(NamedTuple):
    ink: Colour | int | None = None  # an int is one of the sixteen
    paper: Colour | int | None = None
    marks: frozenset[str] = frozenset()


class Cell(NamedTuple):
    text: str
    width: int
    style: Style


ON = {1: "bold", 2: "dim", 3: "italic", 4: "underline", 7: "reverse", 8: "hidden", 9: "strike"}
OFF = {22: {"bold", "dim"}, 23: {"italic"}, 24: {"underline"}, 27: {"reverse"}, 28: {"hidden"}, 29: {"strike"}}


def render(ansi: str, cols: int, rows: int, out: Path) -> None:
    """Draw text with SGR colours, as tmux captures it, on ``cols`` x ``rows`` cells and write a PNG to ``out``.

    What does not fit is cut. A character that no font here has is drawn as a box of its width.
    """
    wide, high = _cell_size()
    image = Image.new("RGB", (cols * wide + 2 * MARGIN, rows * high + 2 * MARGIN), PAPER)
    draw = ImageDraw.Draw(image)
    for row, line in enumerate(_lines(ansi)[:rows]):
        column = 0
        for cell in line:
            if column + cell.width <= cols:
                _draw_cell(draw, (MARGIN + column * wide, MARGIN + row * high), cell)
            column += cell.width
    image.save(out, "PNG")


def _lines(ansi: str) -> list[list[Cell]]:
    """Rows of cells. The style goes on over line ends, as it does in what tmux up to 3.3a prints."""
    lines: list[list[Cell]] = [[]]
    style, drawing = Style(), False
    for match in TOKEN.finditer(ansi.replace("\r\n", "\n")):
        codes, control, char = match.groups()
        if codes is not None:
            style = _restyle(style, codes)
        elif control == "\n":
            lines.append([])
        elif control:
            drawing = control == "\x0e"
        elif char:
            _add(lines[-1], LINE_DRAWING.get(char, char) if drawing else char, style)
    return lines


def _add(line: list[Cell], char: str, style: Style) -> None:
    width = cells.width(char)
    if width == 0 and line:
        line[-1] = line[-1]._replace(text=line[-1].text + char)
    elif char.isprintable():
        line.append(Cell(char, width, style))


def _restyle(style: Style, codes: str) -> Style:
    numbers = [[int(part or 0) for part in code.split(":")] for code in codes.split(";")]
    while numbers:
        code, *parts = numbers.pop(0)
        if code in (38, 48):
            colour = _extended(parts or [part for number in _operands(numbers) for part in number])
            style = style._replace(ink=colour) if code == 38 else style._replace(paper=colour)
        elif code == 58 and not parts:
            _operands(numbers)
        else:
            style = _simple(style, code, off=parts == [0])
    return style


def _operands(numbers: list[list[int]]) -> list[list[int]]:
    """Take what belongs to a 38 or 48 off the list."""
    count = {5: 2, 2: 4}.get(numbers[0][0], 1) if numbers else 0
    taken, numbers[:count] = numbers[:count], []
    return taken


def _extended(parts: list[int]) -> Colour | int | None:
    if parts[:1] == [5] and len(parts) > 1:
        return _indexed(parts[1])
    return tuple(parts[-3:]) if parts[:1] == [2] and len(parts) > 3 else None


def _indexed(index: int) -> Colour | int:
    if index < 16:
        return index
    if index >= 232:
        return (8 + 10 * (index - 232),) * 3
    return tuple(STEPS[(index - 16) // step % 6] for step in (36, 6, 1))


def _simple(style: Style, code: int, *, off: bool) -> Style:
    if code == 0:
        return Style()
    if code in ON:
        return style._replace(marks=style.marks - {ON[code]} if off else style.marks | {ON[code]})
    if code in OFF:
        return style._replace(marks=style.marks - OFF[code])
    return _coloured(style, code)


def _coloured(style: Style, code: int) -> Style:
    if code in (39, 49):
        return style._replace(ink=None) if code == 39 else style._replace(paper=None)
    for start, bright in ((30, 0), (90, 8)):
        if start <= code < start + 8:
            return style._replace(ink=code - start + bright)
        if start + 10 <= code < start + 18:
            return style._replace(paper=code - start - 10 + bright)
    return style


def _draw_cell(draw: ImageDraw.ImageDraw, at: tuple[int, int], cell: Cell) -> None:
    ink, paper = _colours(cell.style)
    wide, high = _cell_size()
    box = (at[0], at[1], at[0] + wide * cell.width - 1, at[1] + high - 1)
    if paper != PAPER:
        draw.rectangle(box, fill=paper)
    if cell.text != " ":
        _draw_text(draw, box, cell, ink)
    for mark, height in (("underline", high - 2), ("strike", high // 2)):
        if mark in cell.style.marks:
            draw.line((box[0], at[1] + height, box[2], at[1] + height), fill=ink)


def _draw_text(draw: ImageDraw.ImageDraw, box: tuple[int, int, int, int], cell: Cell, ink: Colour) -> None:
    font = _font_for(cell.text[0], bold="bold" in cell.style.marks)
    if font is None:
        draw.rectangle((box[0] + 2, box[1] + 3, box[2] - 2, box[3] - 4), outline=ink)
        return
    # right of its middle only where the glyph is not as wide as its cells, as in a fallback font
    spare = box[2] - box[0] + 1 - font.getlength(cell.text[0])
    draw.text((box[0] + max(0, spare) // 2, box[1] + _ascent()), cell.text, fill=ink, font=font, anchor="ls")


def _colours(style: Style) -> tuple[Colour, Colour]:
    ink = style.ink
    if isinstance(ink, int) and ink < 8 and "bold" in style.marks:
        ink += 8
    drawn, paper = _rgb(ink, INK), _rgb(style.paper, PAPER)
    if "reverse" in style.marks:
        drawn, paper = paper, drawn
    if "dim" in style.marks:
        drawn = tuple((3 * own + 2 * ground) // 5 for own, ground in zip(drawn, paper, strict=True))
    return (paper if "hidden" in style.marks else drawn), paper


def _rgb(colour: Colour | int | None, default: Colour) -> Colour:
    if colour is None:
        return default
    return SIXTEEN[colour] if isinstance(colour, int) else colour


@lru_cache
def _fonts(names: tuple[str, ...]) -> list[Font]:
    """Fonts of this machine in files of these names (``*`` as in a shell), in that order; pillow's own comes last."""
    files = [path for folder in FOLDERS for path in sorted(Path(folder).expanduser().glob("**/*.[toTO][tT][fcFC]"))]
    found = [font for name in names for path in files if fnmatch(path.stem, name) and (font := _load(path))]
    own = ImageFont.load_default(SIZE)
    assert isinstance(own, Font), "pillow was built without FreeType"
    return [*found, own]


def _load(path: Path) -> ImageFont.FreeTypeFont | None:
    try:
        return ImageFont.truetype(path, SIZE)
    except OSError:  # a bitmap font that has no such size
        return None


@lru_cache
def _font_for(char: str, *, bold: bool) -> Font | None:
    names = (BOLD if bold else ()) + MONO + OTHER
    return next((font for font in _fonts(names) if _has(font, char)), None)


def _has(font: Font, char: str) -> bool:
    """Pillow does not say so: a glyph that looks as that of a character that cannot exist is missing."""
    return bytes(font.getmask(char)) != bytes(font.getmask("\U0010ffff"))


@lru_cache
def _cell_size() -> tuple[int, int]:
    font = _fonts(MONO)[0]
    return round(font.getlength("M")), sum(font.getmetrics())


@lru_cache
def _ascent() -> int:
    return _fonts(MONO)[0].getmetrics()[0]


def main(argv: list[str]) -> int:
    if not argv:
        print(__doc__)
        return 2
    ansi = sys.stdin.read()
    lines = _lines(ansi.removesuffix("\n"))
    size = (
        argv[1].split("x")
        if len(argv) > 1
        else (max(sum(cell.width for cell in line) for line in lines) or 1, len(lines))
    )
    render(ansi, int(size[0]), int(size[1]), Path(argv[0]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
