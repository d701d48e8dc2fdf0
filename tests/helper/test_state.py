"""Evidence -> state: signs that count, and signs that must not."""

from __future__ import annotations

import pytest

from covey.agents import load
from covey.models import Exit
from covey.state import Dialog, Evidence, Option, composer, dialog, judge, ready
from covey.tmux.screen import Screen, parse

CATALOG = load()
OWN_TITLES = {
    "claude": "✳ Repair the parser",
    "codex": "parser | project",
    "gemini": "◇  Ready (project)",
    "opencode": "OC | Repair the parser",
    "pi": "π - project",
    "qwen": "Qwen - project",
    "copilot": "Repair the parser - GitHub Copilot",
    "standin": "standin",
    "aider": "",
}


def claude(*above: str, draft: str = "❯", foot: str = "  ⏸ manual mode on · ? for shortcuts", width: int = 60) -> str:
    rail = "─" * width
    return "\n".join([*above, "", rail, draft, rail, foot])


def codex(*above: str, draft: str = "› Ask Codex to do anything", foot: str = "  gpt-9 high · ~/project") -> str:
    return "\n".join([*above, "", draft, "", foot])


def gemini(*above: str, draft: str = " >   Type your message or @path/to/file", width: int = 60) -> str:
    return "\n".join([*above, "─" * width, " Shift+Tab to accept edits", "▄" * width, draft, "▀" * width, " ~/project"])


def opencode(*above: str, draft: str = "", foot: str = "   ~/project          ctrl+p commands") -> str:
    bar = "  ┃"
    return "\n".join([*above, "", bar, f"{bar}  {draft}", bar, f"{bar}  Build · Big Model", "  ╹" + "▀" * 50, foot])


def pi(*above: str, draft: str = "", rail: str = "─" * 60) -> str:
    return "\n".join([*above, "", rail, draft, "─" * 60, "~/project (main)", "0.4%/200k (auto)"])


def qwen(*above: str, draft: str = ">   Type your message or @path/to/file", foot: str = "  ⏸ Ask permissions") -> str:
    rail = "─" * 60
    return "\n".join([*above, rail, draft, rail, "  ➜ project · git:(main)", foot])


def copilot(*above: str, draft: str = "❯", foot: str = " Interactive · Manual Approval · ? help") -> str:
    rail = "─" * 60
    return "\n".join([*above, "", " ~/project [main]", rail, draft, rail, foot])


def aider(*above: str, last: str = "> ") -> str:
    return "\n".join([*above, "─" * 60, last])


def standin(*above: str, draft: str = "❯ ", foot: str = "  standin · idle") -> str:
    rail = "─" * 60
    return "\n".join([*above, rail, draft, rail, foot])


def look(agent: str, text: str, title: str | None = None, **more: object) -> tuple[str, str]:
    shown = OWN_TITLES.get(agent, "") if title is None else title
    verdict = judge(Evidence(Screen.plain(text, 80), shown, **more), CATALOG.get(agent))  # type: ignore[arg-type]
    return verdict.state, verdict.rule


STATES = {
    "claude-idle": ("claude", claude("● Done.", "", "✻ Pondered for 12s"), None, "idle"),
    "claude-glyph": ("claude", claude("❯ go on", "", "✢ Whirring…"), None, "working"),
    "claude-counter": ("claude", claude("✳ Simplifying… (2m 18s · ↓ 4.8k tokens)"), None, "working"),
    "claude-verb-in-another-language": ("claude", claude("✻ Actualizando el código… (13m 23s · x)"), None, "working"),
    "claude-tip-below-the-glyph": ("claude", claude("* Musing… (4s)", "  ⎿  Tip: drink water"), None, "working"),
    "claude-only-the-foot": ("claude", claude("● Hm", foot="  ⏵⏵ auto mode on · esc to interrupt"), None, "working"),
    "claude-foot-cut": ("claude", claude("● Hm", foot="  ⏸ manual mode on · esc to…", width=30), None, "working"),
    "claude-title": ("claude", claude("● Hm"), "◑ Repair the parser", "working"),
    "claude-old-title": ("claude", claude("● Hm"), "⠂ Repair the parser", "working"),
    "claude-retry": ("claude", claude("✻ 529 overloaded · retrying in 9s · attempt 2/10"), None, "working"),
    "codex-idle": ("codex", codex("• Done."), None, "idle"),
    "codex-title-only": ("codex", codex("• Some words"), "⠙ parser | project", "working"),
    "codex-row": ("codex", codex("• Reading files (1m 03s • Esc to interrupt)"), None, "working"),
    "codex-asks-in-title": ("codex", codex("• Hm"), "[ . ] Action Required | project", "blocked"),
    "codex-loads": ("codex", codex(" >_ OpenAI Codex (v0.171.0)", "    loading"), "box", "starting"),
    "gemini-idle": ("gemini", gemini("✦ Done."), None, "idle"),
    "gemini-title": ("gemini", gemini("✦ Done."), "✦  Working… (project)", "working"),
    "gemini-thought": ("gemini", gemini(" ⠧ Reading the parser (esc to cancel, 1m 2s)"), "Gemini CLI (p)", "working"),
    "gemini-asks-in-title": ("gemini", "╭──╮\n│ odd box │\n╰──╯", "✋  Action Required (project)", "blocked"),
    "opencode-idle": ("opencode", opencode("     ▣  Build · Big Model · 3.1s"), None, "idle"),
    "opencode-works": ("opencode", opencode(foot="   ⬝⬝■■■■⬝⬝  esc interrupt     ctrl+p"), None, "working"),
    "opencode-again": ("opencode", opencode(foot="   ■⬝⬝⬝⬝⬝⬝⬝  esc again to interrupt"), None, "working"),
    "opencode-no-blocks": ("opencode", opencode(foot="   esc interrupt      tab agents"), None, "working"),
    "pi-idle": ("pi", pi(" Done."), None, "idle"),
    "pi-works": ("pi", pi(rail="── ⠸ Working " + "─" * 40), None, "working"),
    "pi-retries": ("pi", pi(rail="── ⠹ Retrying (2/3) in 4s... (escape to cancel) ──"), None, "working"),
    "qwen-idle": ("qwen", qwen("  ◆ Done."), None, "idle"),
    "qwen-title": ("qwen", qwen("  ◆ Done."), "◐\ufe0e Qwen - project", "working"),
    "qwen-row": ("qwen", qwen("  .. Herding cats... (12s · ↓ 7 tokens · esc to cancel)"), None, "working"),
    "qwen-foot": ("qwen", qwen(foot="  Enter to steer · Ctrl+Q to queue"), None, "working"),
    "qwen-asks-in-title": ("qwen", "  ? Shell rm", "✳\ufe0e Qwen - project", "blocked"),
    "copilot-idle": ("copilot", copilot(" ● Done."), None, "idle"),
    "copilot-works": ("copilot", copilot(foot=" ◎ Working · 2.1 KB esc esc interrupt"), None, "working"),
    "copilot-thinks": ("copilot", copilot(foot=" ◉ Thinking esc esc edit prompt"), None, "working"),
    "copilot-tabs": ("copilot", " [Current]  Sessions   Issues", "GitHub Copilot", "starting"),
    "aider-idle": ("aider", aider("Tokens: 2k sent, 9 received."), None, "idle"),
    "aider-mode": ("aider", aider("Tokens: 2k sent.", last="architect> "), None, "idle"),
    "aider-spins": ("aider", aider(last="> fix it\n\n  ░█     Waiting for big/model"), None, "working"),
    "aider-streams": ("aider", aider(last="> fix it\n\nI will change the parser so that"), None, "working"),
    "aider-spins-alone": ("aider", "words\n   █░    Waiting for big/model", None, "working"),
    "aider-goes-on": ("aider", "Tokens: 2k sent, 9 received.\nRunning make", None, "working"),
    "aider-scrolled": ("aider", "\n".join(["some words of an answer"] * 60), None, "working"),
    "aider-retries": ("aider", "Some error\nRetrying in 4.0 seconds...\nhalf an answer", None, "working"),
    "aider-asks": ("aider", aider(last="> fix\n\na.py\nAdd file to the chat? (Y)es/(N)o [Yes]: "), None, "blocked"),
    "aider-greets": ("aider", "─" * 60 + "\nUpdate git name with: git config", None, "starting"),
    "standin-idle": ("standin", standin("Done."), None, "idle"),
    "standin-works": ("standin", standin("⠹ Working… (3s · esc to interrupt)"), None, "working"),
    "standin-title": ("standin", standin("Done."), "⠋ standin", "working"),
    "shell-is-not-known": ("shell", "$ make\nok\n$ ", "box", "unknown"),
    "shell-asks": ("shell", "rm: remove write-protected file? [y/N] ", "box", "blocked"),
    "custom-is-not-known": ("custom", "ready\n> ", "box", "unknown"),
    "custom-spins": ("custom", "⠼ compiling the world", "box", "working"),
    "custom-hint": ("custom", "answering (12s · esc to interrupt)", "box", "working"),
    "cursor-follow-up": ("cursor", " → Add a follow-up", "Cursor", "idle"),
    "cursor-works": ("cursor", " ⬢ Composing 23 tokens\n → Add a follow-up   ctrl+c to stop", "Cursor", "working"),
    "grok-footer": ("grok", "answer\n Ctrl+x:shortcuts", "grok", "idle"),
    "amp-title": ("amp", "text", "fix it - amp - ~/project", "idle"),
}


@pytest.mark.parametrize(("agent", "text", "title", "want"), STATES.values(), ids=STATES.keys())
def test_t03_each_agent_by_its_own_signs(agent: str, text: str, title: str | None, want: str) -> None:
    state, rule = look(agent, text, title)
    assert state == want, rule
    assert rule


MENU = ["Do you want to proceed?", "❯ 1. Yes", "  2. Yes, always", "  3. No", "", "Esc to cancel · Tab to amend"]
NEGATIVES = {
    "claude-quotes-a-dialog": ("claude", claude("● It looked like this:", "", *("  " + row for row in MENU))),
    "claude-quotes-at-the-edge": ("claude", claude("● It looked like this:", *MENU)),
    "claude-lists": ("claude", claude("● Choose one:", "", "  1. Yes", "  2. No", "", "  Do you want to proceed?")),
    "claude-lists-with-its-bullet": ("claude", claude("● 1. Read", "  2. Write", "  Enter to confirm")),
    "claude-speaks-of-the-hint": ("claude", claude("● Press esc to interrupt, or escape to cancel.")),
    "claude-quotes-a-spinner": ("claude", claude("● It said:", "  ✻ Computing… (3s · esc to interrupt)")),
    "claude-old-spinner": ("claude", claude("✻ Computing… (3s)", *(f"  row {n}" for n in range(14)))),
    "claude-summary": ("claude", claude("✻ Cogitated for 1m 6s · done 7:12 AM")),
    "claude-draft-is-a-menu": ("claude", claude("● Hm", draft="❯ 1. Yes\n  2. No\n  Enter to confirm")),
    "claude-draft-speaks": ("claude", claude("● Hm", draft="❯ ✻ Computing… (3s · esc to interrupt)")),
    "claude-status-line": ("claude", claude("● Hm", foot="  Opus ❯ main ❯ 3 files · 12s\n  ⏸ manual mode on")),
    "claude-asked-in-prose": ("claude", claude("● Shall I delete it? [y/n]")),
    "codex-prompt-is-a-list": ("codex", codex("› 1. Read", "  2. Write", "", "• Done.")),
    "codex-draft-is-a-list": ("codex", codex("• Done.", draft="› 1. Read\n  2. Write")),
    "codex-speaks-of-the-hint": ("codex", codex("• Press esc to interrupt.", "• It took (3s in all)")),
    "gemini-quotes-a-spinner": ("gemini", gemini("✦ It said", "   ⠧ Thinking... (esc to cancel, 3s)")),
    "gemini-lists": ("gemini", gemini("✦ ● 1. Yes", "    2. No")),
    "opencode-quotes": ("opencode", opencode("     esc interrupt", "     △ Permission required")),
    "pi-quotes-its-rail": ("pi", pi(" ── ⠸ Working ───", " (esc to cancel)")),
    "pi-draws-a-line": ("pi", pi("─" * 60, " ⠸ Working", "─" * 60)),
    "qwen-quotes": ("qwen", qwen("  ◆ (3s · esc to cancel)", "    .. joke... (3s · esc to cancel)", "  ◆ End", "")),
    "copilot-retried": ("copilot", copilot(" ● Request failed. Retrying...", " ◎ Working esc esc interrupt")),
    "aider-asked-before": ("aider", aider("Run it? (Y)es/(N)o [Yes]: y", "Running it")),
    "aider-draft": ("aider", aider("Tokens: 1", last="> is it (Y)es or (N)o")),
    "aider-draft-of-rows": ("aider", aider("Tokens: 1", last="> first\n> second\n> third")),
    "standin-quotes": ("standin", standin("⠹ Working… (3s · esc to interrupt)", *(f"row {n}" for n in range(13)))),
}


@pytest.mark.parametrize(("agent", "text"), NEGATIVES.values(), ids=NEGATIVES.keys())
def test_words_that_look_like_a_state_do_not_fool_it(agent: str, text: str) -> None:
    assert look(agent, text)[0] == "idle"


@pytest.mark.parametrize("agent", ["claude", "codex", "gemini", "opencode", "pi", "qwen", "copilot"])
@pytest.mark.parametrize("text", ["Something entirely new\n(press a key)\nrow\nrow\nrow", "╭──╮\n│ hm │\n╰──╯\nx"])
def test_t01_what_fits_nothing_is_unknown_never_idle(agent: str, text: str) -> None:
    assert look(agent, text)[0] == "unknown"


def test_t01_a_list_in_prose_without_a_composer_is_no_question() -> None:
    text = "The plan:\n1. read\n2. write\n> 3. rest\nThat is all, press enter to start your day."
    assert look("custom", text)[0] == "unknown"


NARROW = "\n".join(
    [
        "● Hm",
        "",
        "✻ Simplifying the parser…",
        "  (12s · ↓ 3 tokens)",
        "",
        "─" * 30,
        "❯ ",
        "─" * 30,
        "  ⏸ manual mode on · ? for …",
    ]
)


def test_t02_a_composer_is_no_sign_of_rest_in_a_narrow_pane() -> None:
    verdict = judge(Evidence(Screen.plain(NARROW, 30), "✳ x"), CATALOG.get("claude"))
    assert verdict.state == "working"
    rows = ["✦ Hm", "", " ⠦ Reading the whole of it", "(esc to cancel, 12s)"]
    assert judge(
        Evidence(Screen.plain(gemini(*rows, width=30), 30), "Gemini CLI (p)"), CATALOG.get("gemini")
    ).state == ("working")


DIALOGS = {
    "claude": ("claude", "● Bash(rm -r x)\n" + "─" * 60 + "\n Bash command\n   rm -r x\n " + "\n ".join(MENU)),
    "claude-unnumbered": (
        "claude",
        " Do you trust it?\n\n ❯ No, exit\n   Yes, I trust this folder\n\n Enter to confirm",
    ),
    "codex": ("codex", "  Would you like to run it?\n\n› 1. Yes (y)\n  2. No (esc)\n\n  Press enter to confirm"),
    "codex-wrapped": (
        "codex",
        "  Run?\n\n› 1. Yes, go\n     on (y)\n  2. No, tell\n     it why (esc)\n\n  Press enter to\n  confirm or esc",
    ),
    "gemini": ("gemini", "╭────╮\n│ Allow execution of [Shell]?  │\n│ ● 1. Allow once │\n│   2. No (esc)   │\n╰────╯"),
    "opencode": (
        "opencode",
        "     $ rm\n\n  ┃\n  ┃  △ Permission required\n  ┃   Allow once   Allow always   Reject    enter confirm\n  ┃",
    ),
    "qwen": ("qwen", "   Allow it?\n\n   › 1. Yes, once\n     2. No (esc)\n\n\n  ⠏ Waiting for user confirmation..."),
    "copilot": (
        "copilot",
        "╭────╮\n│ Run it?  │\n│ ❯ 1. Yes │\n│   2. No (Esc) │\n│ ↑/↓ to navigate · enter to select │\n╰────╯",
    ),
    "standin": ("standin", "Done.\nDo you want to proceed?\n  1. Yes\n❯ 2. No\n\nEsc to cancel"),
    "custom": ("custom", "Pick:\n > 1) one\n   2) two\n arrow keys, enter to select"),
}


@pytest.mark.parametrize(("agent", "text"), DIALOGS.values(), ids=DIALOGS.keys())
def test_t07_i08_a_question_is_blocked_whatever_the_title_says(agent: str, text: str) -> None:
    for title in (None, "box", "⠋ busy"):
        assert look(agent, text, title, title_is_set=title is None)[0] == "blocked"
    assert dialog(Screen.plain(text, 60), CATALOG.get(agent)) is not None
    assert composer(Screen.plain(text, 60), CATALOG.get(agent)) is None


def test_i08_options_are_told_by_their_words() -> None:
    found = dialog(Screen.plain("\n".join(MENU), 60), CATALOG.get("claude"))
    assert found == Dialog(
        "Do you want to proceed?",
        (Option("Yes", "1"), Option("Yes, always", "2"), Option("No", "3")),
        selected=0,
        row=1,
        end=3,
    )


def test_i08_colours_and_spacing_do_not_matter() -> None:
    text = "\x1b[1m Sure ?\x1b[0m\n\n \x1b[36m❯  1.  Yes, delete\n\x1b[0m    2.  No\n\n \x1b[2mEnter to confirm\x1b[0m"
    found = dialog(parse(text, 60), CATALOG.get("claude"))
    assert found is not None
    assert found.question == "Sure ?"
    assert [option.label for option in found.options] == ["Yes, delete", "No"]


def test_a_wrapped_option_and_question_are_joined() -> None:
    text = "  Do you want\n  to go on?\n\n❯ 1. Yes, and never\n     ask again\n  2. No\n\n  Enter to confirm"
    found = dialog(Screen.plain(text, 24), CATALOG.get("claude"))
    assert found is not None
    assert found.question == "Do you want to go on?"
    assert found.options[0].label == "Yes, and never ask again"


def test_options_without_numbers_have_no_key() -> None:
    found = dialog(Screen.plain(DIALOGS["claude-unnumbered"][1], 60), CATALOG.get("claude"))
    assert found is not None
    assert found.options == (Option("No, exit"), Option("Yes, I trust this folder"))
    assert found.selected == 0


def test_a_row_of_choices_is_selected_by_its_ground() -> None:
    row = "\x1b[48;5;234m  ┃   \x1b[48;5;215m Allow once \x1b[48;5;234m  Allow always   Reject      enter confirm"
    found = dialog(parse(f"  ┃  △ Permission required\n{row}", 60), CATALOG.get("opencode"))
    assert found is not None
    assert [option.label for option in found.options] == ["Allow once", "Allow always", "Reject"]
    assert found.selected == 0


def test_letters_of_a_yes_no_question_are_its_keys() -> None:
    found = dialog(Screen.plain("Run it? (Y)es/(N)o/(D)on't ask again [Yes]: ", 80), CATALOG.get("aider"))
    assert found is not None
    assert found.question == "Run it?"
    assert [option.key for option in found.options] == ["y", "n", "d"]


DRAFTS = {
    "empty": ("claude", claude("● Hm"), ""),
    "no-break-blank": ("claude", claude("● Hm", draft="❯\u00a0"), ""),
    "one-row": ("claude", claude("● Hm", draft="❯\u00a0fix it"), "fix it"),
    "rows": ("claude", claude("● Hm", draft="❯ one\n  two"), "one\ntwo"),
    "pasted": ("claude", claude("● Hm", draft="❯ [Pasted text #1 +11 lines]"), "[Pasted text #1 +11 lines]"),
    "queue-hint": ("claude", claude("● Hm", draft="❯ Press up to edit queued messages"), ""),
    "rail-in-the-draft": ("claude", claude("● Hm", draft="❯ a\n  ─────\n  b"), "a\n─────\nb"),
    "codex-placeholder": ("codex", codex("• Hm"), ""),
    "codex-draft": ("codex", codex("• Hm", draft="› fix\n  it"), "fix\nit"),
    "codex-no-foot": ("codex", "• Hm\n\n› a\n  b\n  c", "a\nb\nc"),
    "gemini-placeholder": ("gemini", gemini("✦ Hm"), ""),
    "gemini-draft": ("gemini", gemini("✦ Hm", draft=" > fix it"), "fix it"),
    "opencode-empty": ("opencode", opencode(), ""),
    "opencode-draft": ("opencode", opencode(draft="fix it"), "fix it"),
    "opencode-side-bar": (
        "opencode",
        "  ┃\n  ┃  fix             side\n  ┃\n  ┃  Build · M\n  ╹▀▀▀▀▀▀▀▀▀▀▀▀      bar\n   ~/project",
        "fix",
    ),
    "pi-empty": ("pi", pi(), ""),
    "pi-draft": ("pi", pi(draft="fix it"), "fix it"),
    "qwen-zero-width": ("qwen", qwen(draft="> fix it \u200b"), "fix it"),
    "aider-draft": ("aider", aider(last="diff> fix it"), "fix it"),
    "copilot-empty": ("copilot", copilot(), ""),
    "none": ("claude", "just text", None),
    "shell": ("shell", "$ ls", None),
}


@pytest.mark.parametrize(("agent", "text", "want"), DRAFTS.values(), ids=DRAFTS.keys())
def test_the_draft_is_read_by_structure(agent: str, text: str, want: str | None) -> None:
    assert composer(Screen.plain(text, 60), CATALOG.get(agent)) == want


@pytest.mark.parametrize(
    "ghost", ["\x1b[2mType a prompt\x1b[0m", "\x1b[7mF\x1b[0;2mix the build?\x1b[0m", "\x1b[38;5;245mfix it\x1b[39m"]
)
def test_ghost_text_is_no_draft(ghost: str) -> None:
    text = standin("Done.", draft=f"❯ {ghost}")
    assert composer(parse(text, 60), CATALOG.get("standin")) == ""


def test_a_dead_pane_has_exited_whatever_it_shows() -> None:
    profile = CATALOG.get("claude")
    shown = Screen.plain(claude("✻ Computing…"), 60)
    verdict = judge(Evidence(shown, "◐ x", dead=True, exit=Exit(code=3)), profile)
    assert (verdict.state, verdict.rule, verdict.excerpt) == ("exited", "process", "code 3")
    assert judge(Evidence(None, dead=True, exit=Exit(signal=9)), profile).excerpt == "signal 9"
    assert judge(Evidence(None, dead=True), profile).excerpt == "status not known"


def test_without_a_screen_nothing_is_known() -> None:
    assert judge(Evidence(None, "◐ x"), CATALOG.get("claude")).state == "unknown"


def test_the_verdict_shows_what_decided() -> None:
    verdict = judge(Evidence(Screen.plain(claude("✻ Computing… (3s)"), 60), "✳ x"), CATALOG.get("claude"))
    assert (verdict.rule, verdict.excerpt) == ("spinner-row", "✻ Computing… (3s)")


def test_background_work_is_counted_beside_the_state() -> None:
    text = claude("● Hm", foot="  ⏸ manual mode on · 3 shells · ? for shortcuts")
    verdict = judge(Evidence(Screen.plain(text, 60), "✳ x"), CATALOG.get("claude"))
    assert (verdict.state, verdict.background) == ("idle", 3)
    text = codex("• Working (1s • esc to interrupt) · 2 background terminals running")
    verdict = judge(Evidence(Screen.plain(text, 60), "a | b"), CATALOG.get("codex"))
    assert (verdict.state, verdict.background) == ("working", 2)


def test_i10_a_composer_without_the_agents_title_is_still_starting() -> None:
    for agent in ("claude", "gemini", "pi", "qwen", "copilot", "opencode", "standin"):
        text = {"claude": claude, "gemini": gemini, "pi": pi, "qwen": qwen}.get(agent, standin)()
        if agent == "opencode":
            text = opencode()
        assert look(agent, text, "box", title_is_set=False) == ("starting", "title-not-set")


def test_i10_a_title_that_never_comes_does_not_keep_an_agent_from_its_work() -> None:
    patience = CATALOG.get("claude").ready.patience
    late = Evidence(Screen.plain(claude("● Hm"), 60), "box", title_is_set=False, changed_ago=patience)
    assert judge(late, CATALOG.get("claude")).state == "idle"


def test_i10_nothing_drawn_yet_is_starting_for_a_while() -> None:
    profile = CATALOG.get("claude")
    assert judge(Evidence(Screen.plain("\n\n", 60), ""), profile).state == "starting"
    assert judge(Evidence(Screen.plain("\n\n", 60), "", changed_ago=60.0), profile).state == "unknown"


def test_i10_ready_wants_rest_as_well() -> None:
    profile = CATALOG.get("standin")
    shown = Screen.plain(standin("Hello"), 60)
    assert not ready(Evidence(shown, "standin", changed_ago=0.0), profile)
    assert ready(Evidence(shown, "standin", changed_ago=1.0), profile)
    assert not ready(Evidence(shown, "⠋ standin", changed_ago=1.0), profile)


def test_claudes_missing_hints_are_starting_only_while_the_screen_moves() -> None:
    text = claude("   Claude Code v2.1.332", "   Opus", foot="  ⏸ manual mode on", width=80)
    shown, profile = Screen.plain(text, 80), CATALOG.get("claude")
    assert judge(Evidence(shown, "✳ x", changed_ago=0.1), profile).state == "starting"
    assert judge(Evidence(shown, "✳ x", changed_ago=5.0), profile).state == "idle"


def test_a_screen_of_long_rows_is_judged_in_time() -> None:
    rows = "\n".join(("─ " * 400 + "(3s · esc", "⠋ " * 400, "a" * 800, "1. " * 200, " " * 800 + "x")) + "\n"
    for profile in CATALOG.profiles.values():
        assert judge(Evidence(Screen.plain(rows * 20, 800), "⠋" * 300), profile).state
