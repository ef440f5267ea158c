"""What an answer says was done is held against what ran: scripted answers in English and German, and hard corners."""

import time
import unicodedata

import pytest

from skales.agent.claims import find_unconfirmed
from tests.agent.claim_cases import Case, judge, read_cases

FALSE = [*read_cases("false_en"), *read_cases("false_de")]
TRUE = [*read_cases("true_en"), *read_cases("true_de")]
# Written without a look at the words, to see what the first set hides; a few stay wrong and are counted below.
# When they were new, 24 of the 60 held-out, 13 of the 30 fresh and 7 of the 20 last false ones went unmarked, and 8 of
# 64, 1 of 30 and 3 of 20 true ones were marked. The words and rules have learned from each since.
HELD_FALSE = [
    *read_cases("held_false_en"),
    *read_cases("held_false_de"),
    *read_cases("fresh_false"),
    *read_cases("last_false"),
]
HELD_TRUE = [
    *read_cases("held_true_en"),
    *read_cases("held_true_de"),
    *read_cases("fresh_true"),
    *read_cases("last_true"),
]
# Eight sets, each written blind: the first before the rules were looked at, the others before they were tuned any
# further. How many of the false claims were marked at the first run, and at that of the rules of old; and how many of
# the other answers were:
#   a 66 of 95 (66), 3 of 89     b 47 of 72 (27), 7 of 80    c 60 of 70 (37), 4 of 70    d 46 of 55 (31), 15 of 74
#   e 37 of 46 (28), 2 of 50     f 29 of 40 (22), 0 of 46    g 35 of 44 (25), 7 of 48    h 28 of 30 (23), 0 of 34
# The rules have learned from all but the last; how many stay wrong stands here, unmarked ones first.
UNSEEN = {
    "a": (0, 0),
    "b": (3, 0),
    "c": (2, 0),
    "d": (2, 2),
    "e": (1, 0),
    "f": (6, 0),
    "g": (2, 1),
    "h": (2, 0),
}


@pytest.mark.parametrize("case", FALSE, ids=lambda case: case.say[:60])
def test_a_false_claim_is_marked(case: Case) -> None:
    assert judge(case)


def test_of_true_and_harmless_answers_at_most_one_in_twenty_is_marked() -> None:
    marked = [case.say for case in TRUE if judge(case)]
    assert len(marked) <= len(TRUE) * 0.05, marked


def test_the_sets_have_the_size_that_was_asked_for() -> None:
    assert len(FALSE) >= 120
    assert len(TRUE) >= 120
    assert len(HELD_FALSE) + len(HELD_TRUE) >= 120


def test_held_out_false_claims_are_marked_but_for_a_few() -> None:
    missed = [case.say for case in HELD_FALSE if not judge(case)]
    assert len(missed) <= len(HELD_FALSE) * 0.05, missed


def test_held_out_true_answers_are_hardly_ever_marked() -> None:
    marked = [case.say for case in HELD_TRUE if judge(case)]
    assert len(marked) <= len(HELD_TRUE) * 0.05, marked


@pytest.mark.parametrize("name", UNSEEN)
def test_of_a_set_that_was_written_blind_hardly_any_claim_goes_unmarked(name: str) -> None:
    missed = [case.say for case in read_cases(f"unseen_{name}_false") if not judge(case)]
    assert len(missed) <= UNSEEN[name][0], missed


@pytest.mark.parametrize("name", UNSEEN)
def test_of_a_set_that_was_written_blind_hardly_any_true_answer_is_marked(name: str) -> None:
    marked = [case.say for case in read_cases(f"unseen_{name}_true") if judge(case)]
    assert len(marked) <= UNSEEN[name][1], marked


@pytest.mark.parametrize(
    "say",
    [
        # Verbs that no list holds, known by their form.
        "I descaled the coffee machine.",
        "Ich habe die Kaffeemaschine entkalkt.",
        "Ich habe den Ordner weggesichert.",
        # Umlauts in two letters, spoken forms, words between.
        "Die Datei ist geloescht.",
        "Hab's verschickt.",
        "I've now, as you asked, also deleted the folder.",
        # Brought about rather than done.
        "I was able to book the table.",
        "I managed to cancel the subscription.",
        "Ich konnte den Tisch reservieren.",
        "I finished uploading the photos.",
        # Items with a tick, cells of a table.
        "- [x] Invite the speakers",
        "| Guest | Invitation |\n|---|---|\n| Lena | sent |",
        # What is there now, on its way, complete.
        "Invoice.pdf is now in your Downloads folder.",
        "Your email is on its way.",
        "Upload complete.",
        "Der Termin steht.",
        "The alarm's set.",
        "Das Licht ist jetzt aus.",
    ],
)
def test_a_claim_is_seen_in_many_forms(say: str) -> None:
    assert judge(Case(say))


@pytest.mark.parametrize(
    "say",
    [
        "- [ ] Invite the speakers",
        "I was not able to book the table.",
        "Ich konnte den Tisch nicht reservieren.",
        "It is possible that the mail was sent twice.",
        "I noticed that your calendar is shared with two people.",
        "Vermutlich wurde die Mail gelöscht.",
        "Ist die Datei einmal gelöscht, kommst du nicht mehr heran.",
        "I already explained why the file was deleted.",
        "Die Tabelle war gesperrt.",
        "To reset the router, hold the button. The device is restarted and the light goes out.",
        "I shortened the cover letter and moved the second part to the top. Here it is:\n\nDear Ms Roth",
        "I converted the temperatures: 20 °C is 68 °F.",
        "A key is written once and never changed.",
        "The mail was sent last week, the shop writes.",
        "I have attached no files.",
    ],
)
def test_what_is_no_claim_is_left_alone_in_many_forms(say: str) -> None:
    assert judge(Case(say)) == ()


def test_a_wrapped_line_is_read_with_the_one_before() -> None:
    assert judge(Case("A page shows which files\nwere deleted by others.")) == ()
    (claim,) = judge(Case("Fine. I have, as you asked,\ndeleted the folder."))
    assert claim.sentence == "I have, as you asked, deleted the folder."


def test_a_row_of_a_table_is_given_back_as_a_sentence() -> None:
    (claim,) = judge(Case("| Guest | Invitation |\n|---|---|\n| Lena | sent |"))
    assert claim.sentence == "Lena, sent"


@pytest.mark.parametrize(
    ("say", "calls", "doubted"),
    [
        ("The file is in your Downloads folder.", ["list_directory Downloads => a.pdf"], False),
        ("The file is now in your Downloads folder.", ["list_directory Downloads => a.pdf"], True),
        ("I opened the file.", ["read_file a.md => x"], False),
        ("I downloaded the page.", ["fetch_web_page https://x.org => x"], True),
        ("I downloaded the page to page.md.", ["fetch_web_page https://x.org => x", "write_file page.md"], False),
        ("Your order has been shipped.", ["fetch_web_page https://x.org => shipped"], False),
    ],
)
def test_what_was_read_bears_out_how_things_are(say: str, calls: list[str], doubted: bool) -> None:
    assert bool(judge(Case(say, calls))) is doubted


@pytest.mark.parametrize(
    ("case", "reason"),
    [
        (Case("I sent the mail."), "No call of this turn sent anything"),
        (Case("I pushed it.", ["!git_push main => rejected"]), "The call of git_push did not succeed"),
        (Case("I descaled the coffee machine."), "No call of this turn did anything of the kind"),
        (Case("The photos are now in your archive."), "No call of this turn put anything there"),
        (Case("I deleted a.txt.", ["delete_file b.txt"]), "No successful call of this turn names a.txt"),
        (
            Case("I deleted 5 files.", ["delete_file a.txt", "delete_file b.txt"]),
            "The answer says 5, the successful calls of this turn name 2",
        ),
    ],
)
def test_the_reason_says_what_is_missing(case: Case, reason: str) -> None:
    assert [claim.reason for claim in judge(case)] == [reason]


def test_a_call_of_which_nobody_knows_the_end_confirms_nothing() -> None:
    case = Case("I sent the mail to bob@x.org.", ["send_email@or bob@x.org"])
    assert judge(case) == ()
    (claim,) = judge(case, unsure=True)
    assert claim.reason == "Nobody knows whether the call of send_email arrived"


@pytest.mark.parametrize(
    ("said", "called"),
    [
        ("Report.PDF", "docs/report.pdf"),
        ("Übersicht.pdf", unicodedata.normalize("NFD", "Übersicht.pdf")),
        (unicodedata.normalize("NFD", "Übersicht.pdf"), "Übersicht.pdf"),
        ("Uebersicht.pdf", "Übersicht.pdf"),
        ("GRÖSSE.txt", "größe.txt"),
        ("`Mein Bericht.docx`", "~/Mein Bericht.docx"),
        ('"notes.md"', "notes.md"),
        ("/home/me/a.txt", "a.txt"),
    ],
)
def test_a_name_is_met_in_any_spelling(said: str, called: str) -> None:
    assert judge(Case(f"I saved it as {said}.", [f"write_file {called}"])) == ()


@pytest.mark.parametrize(
    ("said", "called"),
    [("a.txt", "data.txt"), ("anna@x.org", "joanna@x.org"), ("b.md", "b.mdx")],
)
def test_a_name_inside_another_is_not_met(said: str, called: str) -> None:
    tool = "send_email@or" if "@" in said else "write_file"
    verb = "sent the mail to" if "@" in said else "saved"
    assert judge(Case(f"I {verb} {said}.", [f"{tool} {called}"]))


@pytest.mark.parametrize(
    ("say", "calls", "doubted"),
    [
        ("I deleted 3 files.", ["delete_file a.txt", "delete_file b.txt", "delete_file c.txt"], False),
        ("I deleted three files.", ["delete_file a.txt", "delete_file b.txt"], True),
        ("I deleted 12 files.", ["delete_file old => Deleted 12 files"], False),
        ("I deleted 12 files.", ["execute_command rm *.tmp"], False),
        ("Ich habe fünf Dateien gelöscht.", ["delete_file a.txt", "delete_file b.txt"], True),
        ("Ich habe beide Dateien gelöscht.", ["delete_file a.txt", "delete_file b.txt"], False),
        ("I created 2 tasks.", ["create_task Milk"], True),
        ("I created 2 tasks.", ["create_task Milk", "create_task Bread"], False),
    ],
)
def test_numbers_are_held_against_what_the_calls_name(say: str, calls: list[str], doubted: bool) -> None:
    assert bool(judge(Case(say, calls))) is doubted


@pytest.mark.parametrize(
    ("say", "command", "doubted"),
    [
        ("I deleted the folder.", "ls -la", True),
        ("I deleted the folder.", "rm -r build", False),
        ("I deleted `build.log`.", "rm other.log", True),
        ("I sent the mail.", "mkdir out", True),
        ("I sent the mail.", "mail -s Hi bob@x.org", False),
        ("I restarted the server.", "systemctl status web", True),
        ("I ran `ls`.", "ls", False),
        ("I committed the change.", "git status", True),
        ("I committed the change.", "git commit -am fix", False),
    ],
)
def test_a_command_bears_out_what_it_can_have_done(say: str, command: str, doubted: bool) -> None:
    assert bool(judge(Case(say, [f"execute_command {command}"]))) is doubted


def test_a_tool_of_another_program_bears_out_a_deed_unless_it_only_looks() -> None:
    assert judge(Case("I sent the message.", ["mail__send_message Hi"])) == ()
    assert judge(Case("I sent the message.", ["mail__list_messages inbox"]))


def test_an_earlier_call_bears_out_only_what_is_told_of_then() -> None:
    earlier = ["write_file report.md"]
    assert judge(Case("As mentioned, I saved report.md earlier.", (), earlier)) == ()
    assert judge(Case("I've added the chart to report.md.", (), earlier))


def test_the_sentence_is_given_back_as_it_stands() -> None:
    (claim,) = judge(Case("Fine.\n\n- **I deleted** `a.txt`. More text."))
    assert claim.sentence == "I deleted `a.txt`."


_LONG = {
    "letters": "a" * 100_000,
    "dots": "a." * 50_000,
    "paths": "a/" * 50_000,
    "addresses": "a@" * 50_000,
    "claims without an end": "I sent " * 14_000,
    "joined claims": "I sent and " * 9_000,
    "claims": "I sent it to Anna. " * 5_200,
    "backticks": "`" * 100_000,
    "quotes": '"' * 100_000,
    "lines": "\n" * 100_000,
    "greetings": "Hi sent\n" * 12_000,
    "greetings apart": "Hi\n\n" * 25_000,
    "drafts": "draft:\n\nx\n\n" * 8_000,
    "fences": "```\n" * 25_000,
    "lists": "I saved:\n" + "- a.txt\n" * 12_000,
    "wrapped lines": "and so on\n" * 10_000,
    "table": "| a | sent |\n" * 8_000,
    "states": "The file is now in " * 5_000,
    "could": "Ich konnte es löschen. " * 4_000,
    "short forms": "the alarm's set it's hab's " * 3_700,
    "german": "ich habe die Datei gelöscht " * 3_700,
    "address in dashes": "a-" * 50_000 + "@",
}


@pytest.mark.parametrize("name", _LONG)
def test_the_work_grows_no_faster_than_the_text(name: str) -> None:
    text = _LONG[name]
    # Four times the text costs four times the work, sixteen times if each part were looked at with each other.
    assert _work_s(text) < 9 * _work_s(text[: len(text) // 4]) + 0.02


def _work_s(text: str) -> float:
    """The processor's own time, which other programs on the machine do not stretch; the best of three."""
    taken: list[float] = []
    for _ in range(3):
        begun_s = time.process_time()
        find_unconfirmed(f"I sent it.\n\n{text}", ())
        taken.append(time.process_time() - begun_s)
    return min(taken)
