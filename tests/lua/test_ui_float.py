"""The frame of every window: where it lies, how it looks, which keys it has, how a session is written in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from stage import Stage, session

if TYPE_CHECKING:
    from editor import Editor

EDITOR = {"columns": 100, "lines": 30, "cmdheight": 1, "status": True, "tabs": False}
SIZES = [(20, 5), (40, 10), (60, 15), (80, 24), (120, 40), (300, 100)]
WISHES = [
    {"width": 0.8, "height": 0.8, "border": "rounded"},
    {"width": 0.5, "height": 0.6, "border": "rounded", "align": "right"},
    {"width": 200, "height": 200, "border": "single"},
    {"width": 1, "height": 1},
    {"width": 0.5, "height": 1, "border": "rounded", "align": "right", "slot": {"index": 2, "count": 2}},
]


def fit(nvim: Editor, editor: dict[str, Any], wish: dict[str, Any]) -> dict[str, Any] | None:
    code = "local g, editor, wish = require('covey.ui.geometry'), ... return g.fit(g.area(editor), wish)"
    return nvim.lua(code, EDITOR | editor, wish)


def test_geometry_stays_inside_the_editor_at_every_size(nvim: Editor) -> None:
    for columns, lines in SIZES:
        for cmdheight, status, tabs in [(1, True, False), (0, False, False), (0, True, True), (2, True, True)]:
            editor = {"columns": columns, "lines": lines, "cmdheight": cmdheight, "status": status, "tabs": tabs}
            for wish in WISHES:
                place = fit(nvim, editor, wish)
                if place is None:
                    assert lines <= 5, (editor, wish)
                    continue
                edge = 0 if place["border"] == "none" else 2
                assert place["width"] >= 8
                assert place["height"] >= 1
                assert place["col"] + place["width"] + edge <= columns, (editor, wish, place)
                assert place["row"] >= (1 if tabs else 0)
                bottom = lines - cmdheight - (1 if status else 0)
                assert place["row"] + place["height"] + edge <= bottom, (editor, wish, place)


def test_geometry_of_a_centred_float(nvim: Editor) -> None:
    place = fit(nvim, {}, {"width": 0.5, "height": 10, "border": "rounded"})
    assert place == {"row": 9, "col": 25, "width": 48, "height": 8, "border": "rounded"}


def test_geometry_gives_up_the_border_before_the_content(nvim: Editor) -> None:
    place = fit(nvim, {"lines": 4}, {"width": 1, "height": 1, "border": "rounded"})
    assert (place["border"], place["height"]) == ("none", 2)


@pytest.mark.parametrize("editor", [{"columns": 7}, {"lines": 2}])
def test_geometry_knows_when_there_is_no_room(nvim: Editor, editor: dict[str, int]) -> None:
    assert fit(nvim, editor, {"width": 1, "height": 1}) is None


@pytest.mark.parametrize(
    ("stamp", "age"),
    [
        ("2026-03-01T00:00:00.000Z", "8s"),
        ("2026-02-28T23:57:08.999Z", "3m"),
        ("2026-02-28T18:00:00.000Z", "6h"),
        ("2024-02-29T00:00:08.000Z", "731d"),
        ("2026-03-01T00:05:00.000Z", "0s"),
        ("", ""),
    ],
)
def test_age(nvim: Editor, stamp: str, age: str) -> None:
    now = nvim.lua("return require('covey.ui.label').seconds(...)", "2026-03-01T00:00:08.000Z")
    assert now == 1772323208
    assert nvim.lua("return require('covey.ui.label').age(...)", stamp, now) == age


@pytest.mark.parametrize(
    ("text", "width", "fitted"),
    [
        ("short", 8, "short   "),
        ("exactly8", 8, "exactly8"),
        ("longer than", 8, "longer …"),
        ("가나다라마", 6, "가나… "),
        ("👩‍💻👩‍💻👩‍💻", 4, "👩‍💻… "),
        ("a\tb\nc", 6, "a b c "),
    ],
)
def test_V07_text_is_cut_between_characters(nvim: Editor, text: str, width: int, fitted: str) -> None:
    if "\u200d" in text and not nvim.eval("has('nvim-0.11')"):
        pytest.skip("there a joined emoji is several characters")
    assert nvim.lua("return require('covey.ui.label').fit(...)", text, width) == fitted
    assert nvim.lua("return vim.api.nvim_strwidth(...)", fitted) == width


def test_highlights_are_defaults_and_survive_a_colorscheme(nvim: Editor) -> None:
    nvim.cmd("highlight CoveyIdle guifg=#123456")
    nvim.lua("require('covey.ui.highlight').setup()")
    assert nvim.lua("return vim.api.nvim_get_hl(0, { name = 'CoveyIdle' }).fg") == 0x123456
    assert nvim.lua("return vim.api.nvim_get_hl(0, { name = 'CoveyBlocked' }).link") == "DiagnosticWarn"
    nvim.cmd("colorscheme habamax")
    assert nvim.lua("return vim.api.nvim_get_hl(0, { name = 'CoveyBlocked' }).link") == "DiagnosticWarn"


def test_every_highlight_links_to_a_group_that_is_there(nvim: Editor) -> None:
    nvim.lua("require('covey.ui.highlight').setup()")
    for name, target in nvim.lua("return require('covey.ui.highlight').links()").items():
        assert nvim.lua("return next(vim.api.nvim_get_hl(0, { name = ... })) ~= nil", target), f"{name}: {target}"


def test_keys_are_a_persons_choice(nvim: Editor) -> None:
    Stage(nvim)
    nvim.lua("require('covey').setup({ keys = { preview = { close = 'X', zoom = false } } })")
    keys = nvim.lua(
        """
        local keys = require('covey.ui.keys').chosen('preview', {
          { name = 'close', run = '' }, { name = 'zoom', lhs = 'z', run = '' }, { name = 'other', lhs = 'o', run = '' },
        })
        return vim.tbl_map(function(key) return { key.name, key.lhs } end, keys)
        """
    )
    assert keys == [["close", "X"], ["other", "o"], ["help", "g?"]]


def test_help_lists_the_keys_and_closes(nvim: Editor) -> None:
    stage = Stage(nvim)
    stage.preview(session(), focus=True)
    nvim.keys("g?")
    nvim.wait(lambda: "zoom: the whole editor and back" in nvim.screen())
    nvim.keys("q")
    nvim.wait(lambda: "zoom: the whole editor and back" not in nvim.screen())
    assert nvim.eval("win_getid()") == nvim.lua("return view.float.win")


def test_picker_shows_columns_and_gives_the_session(nvim: Editor) -> None:
    stage = Stage(nvim)
    stage.fleet(session("a"), session("longer", state="exited", exit={"code": 3, "signal": None}))
    nvim.lua(
        "vim.ui.select = function(items, opts, done) kind, lines = opts.kind, vim.tbl_map(opts.format_item, items)"
        " done(items[2], 2) end require('covey.ui.picker').session({}, function(s) chosen = s end)"
    )
    lines = nvim.lua("return lines")
    assert nvim.lua("return kind") == "covey"
    assert lines[0].startswith("longer  standin  exited (3) ")
    assert lines[1].startswith("a       standin  idle ")
    assert nvim.lua("return chosen.name") == "a"


def test_picker_asks_the_helper_before_the_cache_is_there(nvim: Editor) -> None:
    stage = Stage(nvim)
    stage.answer("list", [session("only")])
    nvim.lua(
        "vim.ui.select = function(items, _, done) done(items[1], 1) end"
        " require('covey.ui.picker').session(nil, function(s) chosen = s end)"
    )
    nvim.wait("chosen and chosen.name == 'only'")


def test_picker_says_when_there_is_nothing_to_choose(nvim: Editor) -> None:
    Stage(nvim).fleet()
    nvim.lua("called = 0 require('covey.ui.picker').session({}, function(s) called = called + 1 chosen = s end)")
    nvim.wait(lambda: "no session" in nvim.messages())
    assert nvim.lua("return { called, chosen == nil }") == [1, True]


@pytest.mark.parametrize(
    ("text", "column", "found"),
    [
        ("at lua/x.lua:12:3.", 5, {"path": "lua/x.lua", "line": 12, "column": 3}),
        ("at lua/x.lua:12", 13, {"path": "lua/x.lua", "line": 12}),
        ("see @src/a.py#L7-L9", 6, {"path": "src/a.py", "line": 7}),
        ("see ./b.txt.", 6, {"path": "./b.txt"}),
        ("nothing here", 7, None),
    ],
)
def test_references(nvim: Editor, text: str, column: int, found: dict[str, Any] | None) -> None:
    assert nvim.lua("return require('covey.ui.reference').at(...)", text, column) == found
