"""Options: what is taken, what is reported, and that none of it is fatal."""

from __future__ import annotations

SETUP = "require('covey').setup(...)"
GET = "return require('covey.config').get()"
PROBLEMS = "return require('covey.config').problems()"

WRONG = [
    ({"on_exit": "kil"}, 'on_exit: expected one of keep, reap, settled, got "kil"'),
    ({"tmux": 3}, "tmux: expected string, got 3"),
    ({"float": 3}, "float: expected a table, got 3"),
    ({"float": {"width": 0}}, "float.width: expected a number from 0.05 to 1000, got 0"),
    ({"preview": {"interval": "fast"}}, 'preview.interval: expected a number from 10 to 10000, got "fast"'),
    ({"keys": {"board": {"kill": 1}}}, "keys.board.kill: expected a key, or false, got 1"),
    (
        {"notify": {"events": ["blocked", "sneeze"]}},
        'notify.events: expected a list of one of opened, blocked, idle, exited, lost, got { "blocked", "sneeze" }',
    ),
    ({"cwd": "nowhere"}, 'cwd: expected "cwd", "root" or a function, got "nowhere"'),
    ({"nonsense": 1}, "nonsense is no option of covey"),
    ({"float": {"hight": 1}}, "float.hight is no option of covey"),
    ({"keys": {"board": {"fly": "f"}}}, "keys.board.fly is no option of covey"),
]


def test_without_setup_the_defaults_hold(nvim):
    assert nvim.lua("return vim.deep_equal(require('covey.config').get(), require('covey.config').defaults())")
    assert nvim.lua(PROBLEMS) == []


def test_each_option_of_the_defaults_is_checked(nvim):
    """A default of the wrong type in its place is always a problem: no option lacks a check."""
    accepted = nvim.lua("""
        local config, accepted = require('covey.config'), {}
        local function probe(defaults, path)
          for key, value in pairs(defaults) do
            local here = vim.list_extend(vim.list_slice(path), { key })
            if type(value) == 'table' and not vim.islist(value) then
              probe(value, here)
            else
              local opts = {}
              vim.tbl_deep_extend('force', opts, {})
              local at = opts
              for index = 1, #here - 1 do at[here[index]] = {}; at = at[here[index]] end
              at[key] = type(value) == 'boolean' and 'yes' or true
              config.setup(opts)
              if #config.problems() ~= 1 then table.insert(accepted, table.concat(here, '.')) end
            end
          end
        end
        probe(config.defaults(), {})
        return accepted
    """)
    assert accepted == []


def test_what_is_wrong_is_named_by_its_path_and_left_out(nvim):
    for opts, sentence in WRONG:
        nvim.lua(SETUP, {**opts, "default_agent": "shell"})
        assert nvim.lua(PROBLEMS) == [sentence]
        config = nvim.lua("local c = require('covey.config').get(); c.keys = nil; return c")
        assert config["default_agent"] == "shell"
        assert (config["on_exit"], config["tmux"], config["float"]["width"]) == ("settled", "tmux", 0.8)


def test_what_is_given_is_merged_into_the_defaults(nvim):
    nvim.lua(SETUP, {"float": {"width": 100}, "notify": {"events": []}, "keys": {"board": {"kill": False}}})
    config = nvim.lua(GET)
    assert config["float"] == {"width": 100, "height": 0.8, "border": "rounded"}
    assert config["notify"] == {"level": "warn", "events": []}
    assert config["keys"]["board"]["kill"] is False
    assert config["keys"]["board"]["attach"] == "<CR>"


def test_the_global_may_be_a_table_or_a_function_and_setup_wins(start_nvim):
    nvim = start_nvim("--cmd", "let g:covey = {'default_agent': 'codex', 'on_exit': 'keep'}")
    nvim.lua(SETUP, {"on_exit": "reap"})
    config = nvim.lua(GET)
    assert (config["default_agent"], config["on_exit"]) == ("codex", "reap")
    nvim.lua("vim.g.covey = function() return { default_agent = 'pi' } end; require('covey').setup({})")
    assert nvim.lua(GET)["default_agent"] == "pi"


def test_a_broken_global_is_a_problem_and_no_error(nvim):
    nvim.lua("vim.g.covey = function() error('oh') end")
    assert nvim.lua(GET)["default_agent"] == "claude"
    assert "vim.g.covey:" in nvim.lua(PROBLEMS)[0]
    nvim.lua("vim.g.covey = 3; require('covey').setup()")
    assert nvim.lua(PROBLEMS) == ["vim.g.covey: expected a table or a function that returns one"]


def test_a_function_says_where_sessions_start(wire, world):
    nvim = wire.nvim
    nvim.lua("require('covey').setup({ cwd = function() return '/tmp' end }); require('covey').open()")
    assert wire.call()[1]["cwd"] == "/tmp"
    project = world.home / "a project"
    (project / ".git").mkdir(parents=True)
    (project / "src").mkdir()
    nvim.lua("require('covey').setup({ cwd = 'root' })")
    nvim.cmd(f"edit {project}/src/x.py".replace(" project", "\\ project"))
    nvim.lua("require('covey').open()")
    assert wire.call()[1]["cwd"] == str(project)


def test_the_helper_is_told_what_it_needs(nvim, world):
    nvim.lua(SETUP, {"tmux": "/opt/tmux", "agents_dir": "~/agents"})
    told = nvim.lua("return require('covey.config').for_helper()")
    assert (told["tmux"], told["agents_dirs"]) == ("/opt/tmux", [f"{world.home}/agents"])
