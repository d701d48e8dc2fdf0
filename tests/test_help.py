"""The words are kept honest: what the code has is documented, what is documented is there, and examples run."""

from __future__ import annotations

import inspect
import re
import subprocess
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, get_args

import pytest

from covey import agents, cli, env, errors, models, reference, registry, shell, verbs
from covey.agents import check, profile
from waiting import eventually
from wire import Wire
from world import ROOT, World

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from editor import Editor

HELP = ROOT / "doc" / "covey.txt"
README = ROOT / "README.md"
HOUSE = ROOT / "doc" / "architecture.md"
WIDTH = 79  # columns that a window of 80 shows; a `>` that opens an example may stand beyond

TAG = re.compile(r"(?<!\S)\*([^*\s|]+)\*(?!\S)")
LINK = re.compile(r"(?<![\w|])\|([^|\s`]+)\|(?![\w|])")


# --- reading ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Block:
    """An example: its language, its text without the indent, and where it stands."""

    language: str
    text: str
    line: int


def tags() -> list[str]:
    return TAG.findall(HELP.read_text())


def family(start: str, end: str = "") -> set[str]:
    """The tags of one kind, without what they have in common."""
    return {tag[len(start) : len(tag) - len(end)] for tag in tags() if tag.startswith(start) and tag.endswith(end)}


def section(tag: str) -> str:
    """The text from a tag to the next ruler."""
    _, _, rest = HELP.read_text().partition(f"*{tag}*")
    assert rest, f"there is no tag {tag}"
    return rest.partition("\n====")[0]


def blocks_of_help(text: str, first: int) -> Iterator[Block]:
    """Examples opened by `>LANGUAGE` at the end of a line; the first line that is not indented ends them."""
    rows = text.split("\n")
    for at, row in enumerate(rows):
        opened = re.search(r"(?:^| )>(\w+)$", row)
        if opened:
            body = []
            for inner in rows[at + 1 :]:
                if inner and not inner.startswith(" "):
                    break
                body.append(inner)
            yield Block(opened.group(1), inspect.cleandoc("\n".join(body)), first + at + 1)


def blocks_of_readme() -> Iterator[Block]:
    for found in re.finditer(r"^```(\w+)\n(.*?)^```$", README.read_text(), re.DOTALL | re.MULTILINE):
        line = README.read_text()[: found.start()].count("\n") + 2
        yield Block(found.group(1), found.group(2), line)


def chapters() -> dict[str, list[Block]]:
    """The examples of each chapter of the help, by the chapter's first tag."""
    found, first = {}, 1
    for text in re.split(r"(?m)^(?====)", HELP.read_text()):
        examples = list(blocks_of_help(text, first))
        if examples:
            found[TAG.findall(text)[0]] = examples
        first += text.count("\n")
    return found


def source(folder: str, suffix: str) -> str:
    return "\n".join(path.read_text() for path in sorted((ROOT / folder).rglob(f"*{suffix}")))


# --- what the code has -----------------------------------------------------------------------------------------------


def lua_functions(nvim: Editor) -> set[str]:
    return set(nvim.lua("return vim.tbl_keys(require('covey'))"))


def subcommands(nvim: Editor) -> set[str]:
    return set(nvim.lua("return require('covey.command').names()"))


def options(nvim: Editor) -> dict[str, Any]:
    """Every option by its path; the keys of a window are one option."""

    def walk(table: dict[str, Any], path: str) -> Iterator[tuple[str, Any]]:
        for name, value in table.items():
            here = f"{path}{name}"
            if isinstance(value, dict) and not here.startswith("keys."):
                yield from walk(value, f"{here}.")
            else:
                yield here, value

    return dict(walk(nvim.lua("return require('covey.config').defaults()"), ""))


def events() -> set[str]:
    """All that becomes a `User` autocommand: what the helper emits, less what the editor keeps to itself."""
    emitted = set(re.findall(r"emit\(\s*\"(\w+)\"", source("helper/covey", ".py")))
    emitted |= set(re.findall(r"(?:tell|apply)\(\{ event = \"(\w+)\"", source("lua", ".lua")))
    view = models.Session(
        *("a", "a", "a", "idle", "", {}, None, None, None, "/", 1, "", None, "keep", False, False, 0, False)
    )
    seen = [replace(view, state=state) for state in get_args(models.StateName)]
    changes = [(None, view), *((view, other) for other in seen), (view, replace(view, name="b"))]
    emitted |= {registry.event(old, new) for old, new in changes}
    silent = re.search(r"local SILENT = \{(.*?)\}", (ROOT / "lua/covey/fleet.lua").read_text())
    assert silent
    return {f"Covey{event}" for event in emitted - set(re.findall(r"(\w+) = true", silent.group(1)))}


def maps(nvim: Editor) -> set[str]:
    found = {m["lhs"] for mode in "nxio" for m in nvim.vim.api.get_keymap(mode) if "<Plug>(Covey" in m["lhs"]}
    return found | set(re.findall(r"\"(<Plug>\(Covey\w+\))\"", source("lua", ".lua")))


def error_codes() -> set[str]:
    """Those that exceptions have, and those that Lua and the adapter make themselves."""
    kinds = [errors.CoveyError, *errors.CoveyError.__subclasses__()]
    made = re.findall(r"\bcode = \"(\w+)\"", source("lua", ".lua"))
    made += re.findall(r"\"code\": \"(\w+)\"", source("rplugin", ".py"))
    return {kind.code for kind in kinds} | set(made)


# --- tags ------------------------------------------------------------------------------------------------------------


def test_helptags_is_content(nvim: Editor, world: World) -> None:
    copy = world.tmp / "doc"
    copy.mkdir()
    (copy / HELP.name).write_text(HELP.read_text())
    assert nvim.cmd(f"helptags {copy}") == ""
    assert len((copy / "tags").read_text().splitlines()) == len(tags())


def test_lines_fit_and_hold_no_tab() -> None:
    rows = HELP.read_text().split("\n")
    long = [row for row in rows if len(re.sub(r" >\w*$", "", row)) > WIDTH]
    assert not long
    assert "\t" not in HELP.read_text()


def test_every_link_leads_somewhere(nvim: Editor) -> None:
    known = {row.split("\t")[0] for row in _runtime_tags(nvim)} | set(tags())
    lua = re.findall(r"\|(covey[^|\s]*)\|", source("lua", ".lua"))
    readme = re.findall(r":help (covey[\w-]*)", README.read_text())
    links = [*LINK.findall(HELP.read_text()), *lua, *readme]
    assert len(links) > 50
    assert not [link for link in links if link not in known]


def _runtime_tags(nvim: Editor) -> list[str]:
    return nvim.lua("return vim.fn.readfile(vim.env.VIMRUNTIME .. '/doc/tags')")


def test_each_subcommand_has_a_tag(nvim: Editor) -> None:
    assert family(":Covey-") == subcommands(nvim)


def test_each_lua_function_has_a_tag(nvim: Editor) -> None:
    assert family("covey.", "()") == lua_functions(nvim)


def test_each_verb_of_the_command_line_has_a_tag_and_its_words() -> None:
    assert family("covey-cli-") - {"status"} == cli.VERBS.keys()
    text = section("covey-cli")
    for name, (_, words, _run) in cli.VERBS.items():
        shown = _synopsis(text, "open" if words is cli.OPEN else name)
        flags = [flag for names, _ in words for flag in names if flag.startswith("--")]
        assert not [flag for flag in flags if flag not in shown], name
        assert not [flag for flag in re.findall(r"--[\w-]+", shown) if flag not in flags], name


def _synopsis(text: str, verb: str) -> str:
    return "\n".join(re.findall(rf"(?m)^covey {verb}\b.*(?:\n  \S.*)*", text))


def test_each_option_has_a_tag_and_its_default(nvim: Editor) -> None:
    code = options(nvim)
    assert family("covey-option-") == code.keys()
    for name, default in code.items():
        if name.startswith("keys."):
            shown = section(f"covey-{name.removeprefix('keys.')}")
            for key, lhs in default.items():
                assert re.search(rf"(?m)^  {key} +{re.escape(lhs)} ", shown), f"{name}.{key}"
        else:
            row = re.search(rf"(?m)^{re.escape(name)} +(.*)$", section("covey-options"))
            assert row, name
            assert row.group(1).startswith(_as_lua(default)), name


def _as_lua(value: Any) -> str:
    if isinstance(value, list):
        return "{ " + ", ".join(map(_as_lua, value)) + " }" if value else "{}"
    return f'"{value}"' if isinstance(value, str) else str(value).lower()


def test_each_event_has_a_tag() -> None:
    documented = {tag for tag in tags() if re.fullmatch(r"Covey[A-Z]\w+", tag)}
    assert documented == events()


def test_each_map_has_a_tag(nvim: Editor) -> None:
    assert {tag for tag in tags() if tag.startswith("<Plug>")} == maps(nvim)


def test_each_highlight_has_a_tag(nvim: Editor) -> None:
    assert family("hl-") == set(nvim.lua("return vim.tbl_keys(require('covey.ui.highlight').links())"))


def test_each_filetype_has_a_tag() -> None:
    used = set(re.findall(r"filetype = \"(covey-\w+)\"", source("lua", ".lua"))) - {"covey-help"}
    assert family("ft-") == used


def test_each_error_code_has_a_tag_and_its_exit_status() -> None:
    assert family("covey-error-") == error_codes()
    for kind in [errors.CoveyError, *errors.CoveyError.__subclasses__()]:
        assert re.search(rf"(?m)^{kind.code} +{kind.exit_code}  ", section("covey-errors")), kind.code


def test_each_state_and_outcome_has_a_tag() -> None:
    assert family("covey-state-") == set(get_args(models.StateName))
    assert family("covey-receipt-") == set(get_args(models.Outcome))


def test_the_fields_of_sessions_and_receipts_are_named() -> None:
    view = models.Session(
        *("a", "a", "a", "idle", "", {}, None, None, None, "/", 1, "", None, "keep", False, False, 0, False)
    )
    shown = section("covey-session").partition("*covey-states*")[0]
    assert not [name for name in view.to_json() if not re.search(rf"\b{name}\b", shown)]
    receipt = ", ".join(models.Receipt("", "", 1, "held").to_json())
    assert f"{{ {receipt} }}" in section("covey-receipt")


def test_the_rules_of_the_environment_are_named() -> None:
    words = set(section("covey-environment").split())
    assert not env.SCRUB - words
    assert not [one for one in env.SCRUB_PREFIXES if one not in section("covey-environment")]
    assert not [one for one in reference.KINDS if not re.search(rf"(?m)^  {one}[A-Z]+ ", section("covey-environment"))]


def test_profiles_and_their_keys_are_named() -> None:
    words = set(re.findall(r"\w+", section("covey-agents").replace(",", " ")))
    assert not set(agents.load().names()) - words
    parts = (
        profile.ReadyRule,
        profile.ComposerRule,
        profile.Rule,
        profile.StartDialog,
        profile.Flags,
        profile.Rehearsal,
    )
    keys = {each.name for part in parts for each in fields(part)} | check._PROFILE.keys()
    assert not keys - words


def test_placeholders_are_named() -> None:
    values = re.search(r"local VALUES = \{(.*?)\n\}", (ROOT / "lua/covey/ui/placeholder.lua").read_text(), re.DOTALL)
    assert values
    code = set(re.findall(r"(?m)^  (\w+) =", values.group(1)))
    assert set(re.findall(r"(?m)^  \{(\w+)\}", section("covey-placeholders"))) == code


# --- the three tables ------------------------------------------------------------------------------------------------

NO_COMMAND = {
    "setup": "a configuration's",
    "warm": "a configuration's",
    "get": "answers from the cache, for other Lua",
    "names": "answers from the cache, for other Lua",
    "counts": "answers from the cache, for other Lua",
    "statusline": "answers from the cache, for other Lua",
    "capture": "`preview` shows it",
}
NO_SHELL = {
    "board": "a window",
    "preview": "a window",
    "prompt": "a window",
    "pick": "a window",
    "next": "goes from window to window",
    "prev": "goes from window to window",
    "last": "goes from window to window",
    "attention": "goes from window to window",
    "mute": "an editor's notices",
    "changed": "the editor remembers when its prompts went out",
    "paste": "`send --no-submit`",
    "adopt": "only an editor owns a session",
    "install": "the command is installed already",
}
ONLY_SHELL = {
    "doctor": "a part of :checkhealth covey, which is `health`",
    "selftest": "a part of :checkhealth covey, which is `health`",
}
SAME = {"name": "rename", "doctor": "health"}  # two words for one verb
EDITORS_OWN = {"setup", "warm", "names", "counts", "statusline", "health"}


def distinct(words: Iterable[str]) -> set[str]:
    """Each verb by one word only."""
    return {SAME.get(word, word) for word in words}


def test_command_and_lua_have_the_same_verbs(nvim: Editor) -> None:
    assert distinct(subcommands(nvim)) == distinct(lua_functions(nvim)) - NO_COMMAND.keys()


def test_the_table_of_verbs_in_the_readme_has_them_all(nvim: Editor) -> None:
    _, _, rest = README.read_text().partition("\n| verb | does |\n|---|---|\n")
    table, _, _ = rest.partition("\n\n")
    named = re.findall(r"`([a-z]+)", "".join(row.split("|")[1] for row in table.splitlines()))
    assert sorted(set(named)) == sorted(named)
    assert set(named) == subcommands(nvim)


def test_shell_and_lua_have_the_same_verbs(nvim: Editor) -> None:
    in_shell = distinct(lua_functions(nvim)) - EDITORS_OWN - NO_SHELL.keys()
    assert in_shell == distinct(cli.VERBS) - distinct(ONLY_SHELL)


def test_command_and_lua_know_both_words_of_a_verb(nvim: Editor) -> None:
    assert set(SAME) | set(SAME.values()) <= subcommands(nvim) & lua_functions(nvim)


def test_what_lua_asks_is_what_the_helper_can_do(nvim: Editor) -> None:
    """Each verb's method exists and takes its parameters."""
    wire = Wire(nvim)
    takes = {"list": {}, "stats": {}, "agents": {}, "restore": {}, "reap": {"yes": True}, "cancel": {"act": "1"}}
    takes |= {"send": {"name": "ada", "text": "x"}, "rename": {"name": "ada", "new": "b"}}
    takes |= {"edit": {"act": "1", "text": "x"}, "answer": {"name": "ada", "choice": "yes"}}
    takes |= {"broadcast": {"text": "x", "names": ["ada"]}}
    windows = NO_SHELL.keys() | {"attach"} - {"adopt"}
    for verb in sorted(distinct(lua_functions(nvim)) - EDITORS_OWN - windows - {"get"}):
        opts = takes.get(verb, {"name": "ada"})
        nvim.lua("local verb, opts = ...; require('covey')[verb](opts, function() end)", verb, opts)
        method, params = wire.call()
        assert method in verbs.METHODS, f"{verb} asks for {method}"
        inspect.signature(verbs.METHODS[method]).bind(None, **params)


def test_what_the_shell_asks_is_what_the_helper_can_do() -> None:
    text = inspect.getsource(cli) + inspect.getsource(shell)
    asked = set(re.findall(r"(?:call|plain)\(\s*\"(\w+)\"", text))
    assert len(asked) > 15
    assert asked <= verbs.METHODS.keys()


# --- examples --------------------------------------------------------------------------------------------------------

PERSON = """
    _G.asked, _G.said = 0, {}
    local rpc = require('covey.rpc')
    local call = rpc.call
    rpc.call = function(method, params, cb)
      _G.asked = _G.asked + 1
      call(method, params, function(err, result)
        _G.asked = _G.asked - 1;
        (cb or rpc.tell)(err, result)
      end)
    end
    vim.notify = function(message, level)
      local bad = message:find('prompt to') and level ~= vim.log.levels.INFO
      if bad or (level or 0) >= vim.log.levels.ERROR then table.insert(_G.said, message) end
    end
    vim.ui.select = function(items, _, chosen) chosen(items[1]) end
    vim.api.nvim_buf_set_lines(0, 0, -1, true, { 'echo one', 'two', 'three' })
"""
CALM = """
    local busy = { starting = true, working = true }
    for _, session in ipairs(require('covey.fleet').list() or {}) do
      if busy[session.state] or session.queued > 0 then return false end
    end
    return _G.asked == 0
"""
READY = 20.0  # seconds until all agents of an example wait for a prompt, on a machine with other work


@dataclass(frozen=True)
class Reader:
    """Somebody who types an example as it stands and looks at what comes of it before typing the next line."""

    nvim: Editor
    world: World

    def settle(self) -> None:
        """What was asked is answered, and the agents wait."""
        eventually(lambda: self.nvim.lua(CALM), READY, lambda: f"calm: {self.nvim.lua('return _G.said')}")
        assert self.nvim.lua("return _G.said") == []

    def vim(self, text: str) -> None:
        for line in text.split("\n"):
            if line.startswith(":Covey answer"):
                self.nvim.wait("(require('covey').counts().blocked or 0) > 0")
            self.nvim.vim.api.exec2(line, {})
            self.settle()

    def lua(self, text: str) -> None:
        self.nvim.lua(text)
        self.settle()

    def sh(self, text: str) -> None:
        run(self.world, text)

    def toml(self, text: str) -> None:
        profiles(self.world, text)


def run(world: World, text: str) -> None:
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", text],
        env=world.env,
        cwd=world.home,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{text}\n{done.stdout}\n{done.stderr}"


def profiles(world: World, text: str) -> None:
    (world.config / "example.toml").write_text(text)
    assert agents.load([world.config]).problems == ()


@pytest.fixture
def reader(nvim: Editor, world: World) -> Reader:
    nvim.lua(PERSON)
    return Reader(nvim, world)


def meet(reader: Reader) -> None:
    """The two agents that the tutorial opens and later chapters speak of."""
    reader.vim(":Covey open standin name=ada\n:Covey open standin name=bob")


@pytest.mark.parametrize("chapter", chapters())
def test_the_examples_of_the_help_run(reader: Reader, chapter: str) -> None:
    if chapter != "covey-tutorial":
        meet(reader)
    for block in chapters()[chapter]:
        run_block: Callable[[str], None] = getattr(reader, block.language)
        try:
            run_block(block.text)
        except Exception as error:
            error.add_note(f"in the example at {HELP.name}:{block.line}")
            raise


def test_the_examples_have_languages_that_are_run() -> None:
    languages = {block.language for examples in chapters().values() for block in examples}
    assert languages == {"vim", "lua", "sh", "toml"}


def test_an_example_that_fails_is_noticed(reader: Reader) -> None:
    """The reader's own proof: errors of commands, of the helper and of receipts end an example."""
    with pytest.raises(Exception, match="is no verb"):
        reader.vim(":Covey fly")
    with pytest.raises(AssertionError, match="no session 'nobody'"):
        reader.vim(":Covey kill nobody")


NOT_RUN = {
    "make": "the make targets have tests of their own",
    "git clone": "needs the network",
    "nvim -c 'helptags": "the commands are tested one by one: tests/lua/test_install.py",
    "uv tool": "needs the network",
    "pipx": "needs the network",
    "~/.local/share/covey-venv/bin/pip": "needs the network",
}


def test_the_examples_of_the_readme_run(reader: Reader) -> None:
    for block in blocks_of_readme():
        if block.language == "vim":
            reader.vim(block.text.strip())
        elif block.language == "toml":
            profiles(reader.world, block.text)
        elif block.language == "lua":
            _readme_lua(reader, block.text)
        else:
            lines = [line for line in block.text.splitlines() if not line.startswith(tuple(NOT_RUN))]
            run(reader.world, "\n".join(lines))


def _readme_lua(reader: Reader, text: str) -> None:
    """Code runs; a plugin manager's spec is a table whose maps and commands exist."""
    reader.lua(f"local spec = {text}" if text.startswith("{") else text)
    assert set(re.findall(r"<Plug>\(Covey\w+\)", text)) <= maps(reader.nvim)
    for verb in re.findall(r":Covey (\w+)", text):
        assert verb in subcommands(reader.nvim)


# --- the house -------------------------------------------------------------------------------------------------------


def test_the_page_on_the_house_names_every_room_and_no_other() -> None:
    text = HOUSE.read_text()
    named = set(re.findall(r"`([\w/.-]+\.(?:py|lua|toml))`", text))
    rooms = {path.name for folder in ("", "tmux/") for path in (ROOT / "helper/covey" / folder).glob("[!_]*.py")}
    rooms |= {path.name for path in (ROOT / "lua/covey").rglob("*.lua")}
    assert not rooms - {name.rpartition("/")[2] for name in named}
    assert not [name for name in named if not list(ROOT.glob(f"[!.]*/**/{name}")) and not (ROOT / name).exists()]
