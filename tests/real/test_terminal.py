"""What a person sees: a summary on stderr; colours and live lines on terminals only."""

import re

from helpers import Terminal, binary, run, tracker, workload

ESCAPE = "\x1b"


def test_quiet_prints_nothing():
    for options in (["-q"], ["--quiet", "--live"], ["-q", "-o", "rows.csv", "-s", "summary.json"]):
        done = tracker(*options, "true")
        assert (done.stdout, done.stderr) == ("", "")


def test_summary_is_plain_text_on_stderr_alone():
    done = tracker(workload("burn"), "0.2")
    assert re.fullmatch(r"wall_seconds [\d.]+\ncpu_seconds [\d.]+\n", done.stdout)
    assert "CPU" in done.stderr and "emory" in done.stderr
    assert ESCAPE not in done.stderr and "\r" not in done.stderr


def test_live_needs_a_terminal():
    done = tracker("--live", "-i", "0.05", "sleep", "0.4")
    assert done.stdout == ""
    assert ESCAPE not in done.stderr and "\r" not in done.stderr


def on_terminal(*arguments, **variables):
    with Terminal(binary(), *arguments, TERM="xterm", **variables) as terminal:
        assert terminal.wait() == 0
        return terminal.text


def test_live_line_on_a_terminal_is_cleared_at_the_end():
    with Terminal(binary(), "--live", "-i", "0.05", "sh", "-c", "read line", TERM="xterm") as terminal:
        terminal.expect("\r" + ESCAPE + ".*cpu")
        terminal.send("\n")
        assert terminal.wait() == 0
    live, _, rest = terminal.text.rpartition("\r" + ESCAPE)
    assert live, terminal.text
    assert "CPU" in rest or "cpu" in rest.lower()


def test_no_live_line_without_the_option():
    text = on_terminal("-i", "0.05", "sh", "-c", "sleep 0.3")
    assert "\r" not in text.replace("\r\n", "\n")


def test_quiet_on_a_terminal():
    assert on_terminal("-q", "-i", "0.05", "sleep", "0.2") == ""


def test_no_color():
    text = on_terminal("-i", "0.05", "sleep", "0.2", NO_COLOR="1")
    assert text and not re.search(r"\x1b\[[\d;]*m", text)


def test_dumb_terminal_gets_no_escape_codes():
    with Terminal(binary(), "true", TERM="dumb") as terminal:
        assert terminal.wait() == 0
    assert ESCAPE not in terminal.text


def test_stdout_on_a_terminal_does_not_colour_a_file():
    with Terminal("sh", "-c", f"exec {binary()} --live true 2>err") as terminal:
        assert terminal.wait() == 0
    text = open("err").read()
    assert text and ESCAPE not in text
    assert terminal.text == ""


def test_terminal_settings_stay(tmp_path):
    """The job may have changed them on purpose; they are not ours to touch."""
    line = f"stty -echo -icanon; {binary()} -q true; stty -a > settings"
    with Terminal("sh", "-c", line) as terminal:
        terminal.wait()
    assert "-echo " in open("settings").read() and "-icanon" in open("settings").read()


def test_messages_name_the_program_and_what_to_do():
    mistakes = (["--intervall", "1", "true"], ["-i", "x", "true"], ["-o", "no/x", "true"])
    for arguments in mistakes:
        done = run([binary(), *arguments], capture_output=True, text=True)
        assert done.stderr.startswith("resource-tracker: "), arguments
        assert done.stdout == ""
