"""I*: what installed agents do with a text that begins or ends oddly: it comes as written, or is refused by name."""

from __future__ import annotations

import unicodedata

import pytest

from covey.rehearsal import Failed, staged
from drawn import CATALOG

REHEARSED = [name for name in CATALOG.names() if CATALOG.get(name).rehearsal is not None]
ODD = (
    "/notacommand hi",
    "/tmp/foo.txt please read",
    " /help me",
    "!echo hi",
    "# remember this",
    "look at @a.txt",
    "@a.txt",
    "? what is this",
    "it ends with a backslash \\",
    "a tab\tinside",
    "  leading blanks",
    "\n\nleading lines",
    "emoji 👩‍👩‍👧 你好",
    "e\u0301 in two code points",
    "a zero\u200bwidth blank",
    "a red \x1b[31mword",
    "a paste that \x1b[201~ends",
    "exit",
    "quit",
    ":q",
)


@pytest.mark.timeout(600)
@pytest.mark.parametrize("agent", REHEARSED)
async def test_an_odd_text_comes_as_written_or_is_refused_by_name(agent, path, desk):
    async with staged(agent, desk, CATALOG.get(agent), path) as stage:
        try:
            await stage.begin("Say hello.")
            fates = {text: await sent(stage, text) for text in (*ODD, stage.profile.quit)}
        finally:
            ended = [await desk("kill", name=view["name"]) for view in await desk("list")]
    print(*(f"{agent:<9} {text!r:<32} {fate}" for text, fate in fates.items()), sep="\n")
    assert [text for text, fate in fates.items() if fate.startswith("WRONG")] == []
    assert [each["survivors"] for each in ended] == [[]]


async def sent(stage, text):
    """What became of it: refused and unheard, or heard once, whole or but for what the agent changes."""
    before = len(stage.model.requests)
    await stage.state("idle")  # nothing that was refused may have changed anything
    receipt = await stage.call("send", name=stage.name, text=text, wait=60)
    if receipt["outcome"] == "refused":
        return f"refused: {receipt['reason']}"
    if receipt["outcome"] != "submitted":
        return f"WRONG {receipt['outcome']}: {receipt['reason']}"
    try:
        await stage.until(lambda: heard(stage, text, before), "never came", 20)
        await stage.state("idle")
    except Failed as error:
        return f"WRONG called submitted and {error}"
    came = heard(stage, text, before)
    return kind(text, came[0]) if len(came) == 1 else f"WRONG came {len(came)} times"


def heard(stage, text, before):
    """What was said in each newer request that holds the text, but for blanks and the like."""
    requests = [each for each in stage.model.requests[before:] if not each.results]
    return [said for each in requests for said in each.said if squeezed(text) in squeezed(said)]


def plain(text):
    """What is left of it once what would steer a terminal is taken out."""
    return text.replace("\x1b[201~", "").replace("\x1b", "")


def squeezed(text):
    return "".join(unicodedata.normalize("NFC", plain(text)).replace("\u200b", "").split())


def kind(text, said):
    if plain(text) == said:
        return "equal"
    return "framed" if plain(text) in said else "but for blanks and how characters are put together"
