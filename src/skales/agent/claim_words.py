"""How English and German say that something was done, and what it may have been done to.

Only everyday words; a claim in other words goes unnoticed, which is the lesser fault.
"""

import re
from enum import StrEnum


class Action(StrEnum):
    """What an answer may say was done."""

    SENT = "sent"
    WRITTEN = "written"
    DELETED = "deleted"
    RAN = "ran"
    SCHEDULED = "scheduled"
    MOVED = "moved"


# All but `WRITTEN` are deeds whatever they are done to; much is written in the answer itself.
PARTICIPLES = {
    Action.SENT: (
        "sent emailed e-mailed mailed messaged posted replied forwarded published uploaded tweeted notified pushed "
        "submitted deployed "
        "gesendet geschickt verschickt versendet versandt abgeschickt abgesendet gemailt weitergeleitet veröffentlicht "
        "gepostet hochgeladen gepusht übermittelt benachrichtigt eingereicht deployt beantwortet zugestellt"
    ),
    Action.WRITTEN: (
        "saved written wrote stored updated edited changed modified replaced added appended created made generated "
        "produced built committed fixed exported inserted overwritten set configured "
        "gespeichert geschrieben abgelegt abgespeichert aktualisiert geändert bearbeitet ersetzt ergänzt hinzugefügt "
        "angehängt erstellt angelegt erzeugt generiert eingerichtet committet eingecheckt behoben exportiert eingefügt "
        "überschrieben angepasst gesichert konfiguriert"
    ),
    Action.DELETED: (
        "deleted removed erased emptied trashed cleared wiped uninstalled "
        "gelöscht entfernt geleert beseitigt deinstalliert"
    ),
    Action.RAN: (
        "ran run executed launched started installed restarted stopped killed compiled tested "
        "ausgeführt gestartet installiert neugestartet beendet gestoppt kompiliert getestet durchgeführt"
    ),
    Action.SCHEDULED: (
        "scheduled booked reserved planned rescheduled "
        "eingeplant geplant terminiert eingetragen gebucht reserviert vorgemerkt"
    ),
    Action.MOVED: (
        "moved copied renamed downloaded extracted unpacked packed zipped archived "
        "verschoben kopiert umbenannt heruntergeladen entpackt gepackt archiviert"
    ),
}
_ENGLISH_THINGS = (
    r"files?|folders?|director(?:y|ies)|documents?|spreadsheets?|workbooks?|presentations?|slides|notes?|tasks?|"
    r"reminders?|events?|appointments?|meetings?|calendars?|e-?mails?|messages?|tweets?|posts?|databases?|"
    r"repositor(?:y|ies)|repo|branch(?:es)?|commits?|backups?|archives?|pdfs?|invitations?|invoices?|settings?|"
    r"config(?:uration)?s?|scripts?|commands?|tests?|servers?|services?|packages?|dependenc(?:y|ies)|jobs?|workflows?|"
    r"alarms?|photos?|pictures?|images?|screenshots?|downloads?|logs?|rows?|records?|contacts?|memor(?:y|ies)|skills?|"
    r"lights?|website|site|pages?|reports?"
)
_GERMAN_THINGS = (
    r"dateien?|ordner|verzeichnis(?:se)?|dokumente?|tabellen?|präsentation(?:en)?|folien|notiz(?:en)?|aufgaben?|"
    r"erinnerung(?:en)?|termine?|besprechung(?:en)?|kalender|mails?|nachrichten?|beitr(?:ag|äge)|datenbank(?:en)?|"
    r"sicherung(?:en)?|archive?|einladung(?:en)?|rechnung(?:en)?|einstellung(?:en)?|konfiguration(?:en)?|skripte?|"
    r"befehle?|dienste?|pakete?|abhängigkeit(?:en)?|wecker|fotos?|bild(?:er)?|bericht(?:e|s)?|einträge?|eintrag|"
    r"kontakte?|webseite|seiten?|protokolle?"
)
# What lies outside the answer.
THING = re.compile(rf"\b(?:{_ENGLISH_THINGS}|{_GERMAN_THINGS})\b", re.IGNORECASE)
# Parts of the text at hand: taking a word out of a paragraph is no deed.
TEXT_PART = re.compile(
    r"\b(?:words?|sentences?|paragraphs?|commas?|typos?|repetitions?|phrases?|jargon|numbers|wörter|wort|satz|sätze|"
    r"absatz|absätze|kommas?|tippfehler|wiederholung(?:en)?|formulierung(?:en)?|füllwörter)\b",
    re.IGNORECASE,
)
# Not said to be done: wished, possible, to come, refused, asked, or done by somebody else.
UNDONE = re.compile(
    r"n['’]t\b|\b(?:not|no|never|cannot|can|could|would|will|shall|should|may|might|must|if|unless|when|whenever|once|"
    r"until|let me|going to|want(?:ed)? to|try(?:ing)? to|tried to|unable|failed|fail|without|whether|how to|you|they|"
    r"he|she|"
    r"nicht|kein(?:e[nmrs]?)?|nie|niemals|kann|könnte|könnten|kannst|würde|werde|wird|werden|soll(?:te|st)?|muss|"
    r"müsste|wenn|falls|sobald|bevor|ob|ohne|versuch(?:t|e|en)?|konnte|gescheitert|fehlgeschlagen|leider|du|"
    r"sie haben|er hat)\b",
    re.IGNORECASE,
)
# About what was done in an earlier turn.
EARLIER = re.compile(
    r"\b(?:earlier|previously|already|before|yesterday|last time|so far|bereits|schon|vorhin|zuvor|gestern|bisher)\b",
    re.IGNORECASE,
)
