r"""covey's stand-in: a small scripted agent, so that covey can be tried and tested with no agent installed.

Run it with ``python -m covey.standin [options]`` in a terminal. It behaves as agent command lines do: a composer
with bracketed paste at the bottom, a transcript that grows into the scrollback, a spinner and a title while it
works, a menu when it asks. ``\`` + Enter and a pasted line feed are new lines in the draft; Esc interrupts; two
C-c, or C-d on an empty draft, end it. What is submitted while it works waits, is shown, and runs after.

The first word of a prompt says what it does::

    work [S]      works for S seconds, then answers "done"
    ask …         works for a moment, shows a permission dialog (arrows, digits, Enter; Esc cancels), tells what was
                  chosen
    echo …        prints the rest byte for byte, control bytes and all
    flood N       prints N coloured lines as fast as the terminal takes them
    /exit [CODE]  ends with that code (0)
    crash         dies of SIGSEGV, the terminal still raw
    shell         becomes /bin/sh, as an agent does that leaves a shell behind
    …             works for a moment, then answers with the length and SHA-256 of what it was given

A prompt is kept byte for byte: bytes that are not UTF-8 become lone surrogates (``surrogateescape``), here and in
the JSON files below, and a pasted carriage return stays one.

Options that keep something::

    --record FILE        append {"n", "text", "at"} for each submitted prompt, flushed; n counts from 1 a process,
                         at is in seconds since 1970
    --session-id ID      keep the prompts in $XDG_STATE_HOME/covey-standin/ID.jsonl, made at once; an ID that is
                         taken ends it with 1
    --resume ID          go on with those of ID and print "Resumed ID, N prompts"; an unknown ID ends it with 1
    --conversation FILE  keep them in FILE instead: alone it goes on with FILE, or begins it

Options that set the pace::

    --work S             how long an ordinary prompt works, in seconds (0.2; 0 answers at once)
    --exit-after N       end with 0 once N prompts are answered
    --shell-after N      become /bin/sh once N prompts are answered

Options that are faults, each seen in some agent::

    --trust              asks first whether to trust the directory; its default, and Esc, end it with 1. It has no
                         title and no composer until it is trusted
    --ask-after S        with --trust: shows its title and an open composer for S seconds before it asks, and greets
                         only then
    --ready-after S      draws the composer at once, but throws away all input and has no title for S seconds
    --ignore-enter S     ignores Enter for S seconds from its start
    --swallow N          swallows every Nth Enter that reaches the composer
    --burst-gap MS       an Enter within MS of the input byte before it is a new line in the draft
    --sticky S           shows the text for S seconds after it was submitted; the draft itself is empty
    --deaf S             reads nothing for S seconds once it has shown a paste; each Enter that waits then submits the
                         draft anew
    --slow-echo MS       acts on input at once but shows the draft MS later
    --dialog-after-paste opens a dialog when a paste has arrived, once a prompt; the draft waits behind it
    --exit-mid-paste     ends with 3 in the middle of a paste
"""
