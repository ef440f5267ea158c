"""How English and German say that something was done, and what it may have been done to.

Only everyday words; a claim in other words goes unnoticed, which is the lesser fault.
"""

import re
from collections.abc import Mapping
from enum import StrEnum


def word_set(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


class Action(StrEnum):
    """What an answer may say was done."""

    SENT = "sent"
    WRITTEN = "written"
    DELETED = "deleted"
    RAN = "ran"
    OPERATED = "operated"
    SCHEDULED = "scheduled"
    MOVED = "moved"
    ORDERED = "ordered"
    SWITCHED = "switched"
    COMMITTED = "committed"


# Participles that speak of a deed outside the answer whatever follows them.
_STRONG = {
    Action.SENT: (
        "sent emailed e-mailed mailed messaged forwarded uploaded tweeted retweeted notified pushed submitted deployed "
        "texted dispatched delivered invited pinged posted published merged faxed",
        "gesendet geschickt verschickt versendet versandt abgeschickt abgesendet losgeschickt rausgeschickt gemailt "
        "weitergeleitet gepostet hochgeladen gepusht übermittelt benachrichtigt eingereicht deployt zugestellt "
        "eingeladen zurückgeschrieben rausgegangen zugeschickt zurückgeschickt veröffentlicht gemergt angeschrieben",
    ),
    Action.WRITTEN: (
        "saved exported overwritten overwrote restored encrypted synced",
        "gespeichert abgespeichert abgelegt exportiert überschrieben gesichert eingerichtet wiederhergestellt "
        "verschlüsselt "
        "synchronisiert abonniert",
    ),
    Action.DELETED: (
        "deleted erased trashed wiped uninstalled purged cancelled canceled unsubscribed",
        "gelöscht deinstalliert weggeworfen storniert abgesagt gekündigt abbestellt",
    ),
    Action.RAN: ("ran executed", "ausgeführt"),
    Action.OPERATED: (
        "installed reinstalled restarted rebooted",
        "installiert neugestartet heruntergefahren hochgefahren",
    ),
    Action.SCHEDULED: (
        "scheduled booked reserved rescheduled",
        "eingeplant terminiert gebucht reserviert vorgemerkt",
    ),
    Action.MOVED: (
        "renamed downloaded unpacked unzipped zipped archived",
        "umbenannt heruntergeladen entpackt gezippt archiviert",
    ),
    Action.ORDERED: ("bought purchased paid", "bestellt gekauft bezahlt überwiesen"),
    Action.SWITCHED: ("muted unmuted", "eingeschaltet ausgeschaltet angeschaltet abgeschaltet stummgeschaltet"),
    Action.COMMITTED: ("committed", "committet eingecheckt"),
}
# These do so only with a thing that lies outside the answer: much is written and changed in the answer itself.
_WEAK = {
    Action.SENT: (
        "replied shared informed released requested refunded filed",
        "beantwortet geteilt informiert geantwortet bereitgestellt freigegeben angefordert beantragt",
    ),
    Action.WRITTEN: (
        "written wrote stored updated edited changed modified replaced added appended created made generated produced "
        "built fixed inserted set configured converted recorded backed cleaned corrected implemented put "
        "patched logged "
        "compressed resized cropped imported migrated registered reset reverted printed filled wrapped signed "
        "scanned renewed",
        "geschrieben aktualisiert geändert bearbeitet ersetzt ergänzt hinzugefügt angehängt erstellt angelegt erzeugt "
        "generiert behoben eingefügt angepasst konfiguriert geschaffen umgewandelt konvertiert hinterlegt gesetzt "
        "eingestellt korrigiert aufgeräumt bereinigt umgesetzt komprimiert verkleinert vergrößert importiert migriert "
        "registriert angemeldet zurückgesetzt gedruckt ausgefüllt notiert aufgenommen verlinkt unterschrieben "
        "eingescannt verlängert",
    ),
    Action.DELETED: (
        "removed emptied cleared dropped discarded revoked",
        "entfernt geleert beseitigt verworfen widerrufen",
    ),
    Action.RAN: ("run compiled tested", "kompiliert durchgeführt getestet"),
    Action.OPERATED: ("launched started stopped killed shut closed", "gestartet beendet gestoppt geschlossen"),
    Action.SCHEDULED: ("planned", "geplant eingetragen gestellt"),
    Action.MOVED: ("moved copied extracted packed", "verschoben kopiert gepackt übertragen verlegt"),
    Action.ORDERED: ("ordered transferred", ""),
    Action.SWITCHED: ("turned switched enabled disabled activated deactivated", "aktiviert deaktiviert umgestellt"),
}


def _by_word(table: Mapping[Action, tuple[str, str]], language: int) -> Mapping[str, Action]:
    return {word: action for action, words in table.items() for word in words[language].split()}


STRONG: Mapping[str, Action] = {**_by_word(_STRONG, 0), **_by_word(_STRONG, 1)}
ENGLISH: Mapping[str, Action] = {**_by_word(_STRONG, 0), **_by_word(_WEAK, 0)}
VERBS: Mapping[str, Action] = {**ENGLISH, **_by_word(_STRONG, 1), **_by_word(_WEAK, 1)}


# What lies outside the answer. Singular and plural.
THINGS = word_set(
    "file files folder folders directory directories document documents spreadsheet spreadsheets workbook presentation "
    "presentations slides slide note notes task tasks reminder reminders event events appointment appointments meeting "
    "meetings calendar e-mail e-mails email emails mail mails message messages tweet tweets post posts database "
    "databases repository repositories repo branch branches commit commits backup backups archive archives pdf pdfs "
    "invitation invitations invite invites invoice invoices setting settings config configuration script scripts "
    "command commands test tests server servers service services package packages dependency dependencies job jobs "
    "workflow workflows alarm alarms timer photo photos picture pictures image images screenshot screenshots download "
    "downloads log logs row rows record records contact contacts memory memories skill skills light lights website "
    "site webpage report reports attachment attachments trash inbox desktop workspace project order ticket tickets "
    "issue thermostat certificate seat apps zertifikat heizung fenster readme changelog license makefile "
    "dockerfile video videos contract receipt parcel label firmware router "
    "vertrag quittung beleg flight form application entry entries subscription account password payment refund "
    "request user users permission "
    "playlist newsletters wi-fi wifi wlan abo konto passwort zahlung antrag anfrage application reservation "
    "newsletter reply letter dataset csv changes change bug app "
    "build release deployment copy copies cache cronjob suite migration container "
    "datei dateien ordner verzeichnis verzeichnisse dokument dokumente tabelle tabellen präsentation präsentationen "
    "folien notiz notizen aufgabe aufgaben erinnerung erinnerungen termin termine besprechung besprechungen kalender "
    "mail mails nachricht nachrichten beitrag beiträge datenbank datenbanken sicherung sicherungen archiv archive "
    "einladung einladungen rechnung rechnungen einstellung einstellungen konfiguration skript skripte befehl befehle "
    "dienst dienste paket pakete abhängigkeit abhängigkeiten wecker foto fotos bild bilder bericht berichte eintrag "
    "einträge kontakt kontakte webseite website seite protokoll protokolle anhang anhänge papierkorb posteingang "
    "schreibtisch arbeitsbereich projekt bestellung antwortmail licht lampe server tests test suite änderungen "
    "änderung fehler kopie kopien anwendung formular newsletter brief screenshots bildschirmfoto treffen meeting "
    "zweig backup cache timer verknüpfung mails e-mail e-mails flug ticket tisch zimmer buchung"
)
# German puts them at the end of longer words: `Konfigurationsdatei`.
THING_ENDINGS = tuple(
    sorted(
        word_set(
            "datei dateien ordner verzeichnis dokument dokumente tabelle termin termine aufgabe aufgaben "
            "erinnerung kalender "
            "nachricht nachrichten datenbank sicherung sicherungskopie einladung rechnung rechnungen "
            "einstellung einstellungen "
            "konfiguration skript skripte eintrag einträge bericht berichte antrag server konto buchung "
            "bestellung mail mails "
            "fotos bild bilder notiz notizen vertrag beleg"
        )
    )
)
# Words that stand for a thing named before.
PRONOUNS = word_set("it everything all both they these those es alles beides alle beide")
# Parts of the text at hand: taking a word out of a paragraph is no deed.
TEXT_PARTS = word_set(
    "word words sentence sentences paragraph paragraphs comma commas typo typos repetition repetitions phrase phrases "
    "jargon numbers wording tone grammar spelling heading headings bullet bullets introduction intro conclusion "
    "stanza verse rhyme title draft variable loop function formula "
    "wörter wort satz sätze absatz absätze komma kommas tippfehler wiederholung wiederholungen formulierung "
    "formulierungen füllwörter füllwort ton grammatik rechtschreibung überschrift überschriften einleitung "
    "strophe vers entwurf variable schleife funktion formel"
)
# Looking something up is no deed in the sense of this module.
LOOKING = word_set(
    "search searches query queries scan check checks analysis comparison calculation numbers suche suchen abfrage "
    "analyse prüfung vergleich berechnung recherche"
)
ME = word_set("i we ich wir")
OTHERS = word_set("you he she they someone somebody people who du er ihr man jemand")
NEGATIONS = word_set(
    "not no never none nothing neither nor nobody cannot unable failed fail fails without hardly almost nearly instead "
    "nicht nichts kein keine keinen keinem keiner keines nie niemals niemand weder ohne beinahe fehlgeschlagen "
    "gescheitert statt anstatt"
)
MODALS = word_set(
    "can could would will shall should may might must be being try tried trying want wanted wants about going need "
    "needs plan let lets supposed pretend imagine assume suppose like gets get "
    "kann könnte könnten könntest können konnte kannst würde würden werde wird werden soll sollte sollen sollten "
    "solltest muss müsste müssen musst möchte möchtest will wollte wollten hätte hätten wäre wären darf dürfte "
    "versuche versucht lass"
)
# They open a clause that speaks of what may be; at the head of a sentence they govern all of it.
CONDITIONS = word_set("if unless when whenever once until whether before how wenn falls sobald bevor ob bis damit")
# They open a clause with a subject of its own.
OPENERS = word_set("that which because since so after while although dass weil da nachdem während obwohl")
RELATIVES = word_set("that which who")
# They hand on what somebody or something else says.
SAYING = word_set(
    "says said say shows showed states stated reports reported mentions mentioned tells told claims claimed reads sagt "
    "sagte zeigt zeigte meldet meldete steht stand berichtet behauptet heißt laut angeblich"
)
DEFINITE = word_set("the your all both der die das den dein deine deinen deiner ihr ihre ihren alle beide")
OWN = word_set("your dein deine deinen deiner deinem")
BREAKS = word_set("but however aber sondern doch jedoch though")
JOINTS = word_set("and or then plus und oder dann sowie beziehungsweise")
HAVE = word_set("have has had habe haben hat hatte hatten")
BE_NOW = word_set("is are ist sind")
BE_THEN = word_set("was were got wurde wurden war waren")
BE = BE_NOW | BE_THEN
ADVERBS = word_set(
    "just now also successfully already both then gone went ahead previously earlier finally safely quickly "
    "properly recently only newly permanently automatically manually completely fully correctly directly and been "
    "have immediately promptly since too even first"
)
ATTRIBUTIVE = word_set(
    "the a an your my our their his her its this that these those any each every some no newly recently previously "
    "last latest most to for of as with about using when if der die das ein eine einen dem den im zum deine ihre "
    "meine diese jede alle einer"
)
# What may follow a participle that opens a headline: `Deleted 3 files`, not the heading `Deleted files`.
HEADLINE_OBJECT = word_set(
    "the a an your all both it them this these those to successfully as in into under from at with new "
    "two three four five six seven eight nine ten"
)
HEADLINE_END = word_set(
    "to in into as at from for on under with via successfully and an nach unter als von aus für per am um erfolgreich "
    "auf mit über und or oder"
)
NUMBERS: Mapping[str, int] = {
    word: number
    for number, words in {
        2: "two both zwei beide beiden",
        3: "three drei",
        4: "four vier",
        5: "five fünf",
        6: "six sechs",
        7: "seven sieben",
        8: "eight acht",
        9: "nine neun",
        10: "ten zehn",
        12: "twelve dozen zwölf dutzend",
    }.items()
    for word in words.split()
}
# Things of which a call that names one does one.
COUNTED = word_set(
    "file files document documents email emails e-mail e-mails mail mails message messages photo photos picture "
    "pictures image images pdf pdfs invitation invitations invite invites task tasks reminder reminders event events "
    "appointment appointments datei dateien dokument dokumente nachricht nachrichten foto fotos bild bilder einladung "
    "einladungen aufgabe aufgaben erinnerung erinnerungen termin termine"
)

# Ways to say it without a participle.
IDIOMS: tuple[tuple[Action, re.Pattern[str]], ...] = (
    (
        Action.SENT,
        re.compile(
            r"\b(?:is|are|ist|sind) (?:now |already |jetzt |nun |bereits |schon )?"
            r"(?:on (?:its|their) way|live|online|raus|unterwegs)\b|\b(?:went|gone|going) (?:out|live)\b"
            r"|\b(?:and|i|we) (?:have |just |already |also )*let (?!me\b|us\b)(?:the |your |my )?[\w.@-]+ know\b"
            r"|\bich habe [\w.@-]+ bescheid gegeben\b"
        ),
    ),
    (
        Action.DELETED,
        re.compile(
            r"\b(?:is|are|ist|sind) (?:now |already |jetzt |nun )?(?:gone|weg)\b|\bi (?:have )?(?:gotten|got) rid of\b"
        ),
    ),
    (
        Action.SCHEDULED,
        re.compile(
            r"\b(?:is|are) (?:now |already )?(?:on|in) (?:your|the) calendar\b"
            r"|\b(?:steht|stehen|ist|sind) (?:jetzt |nun |bereits )?(?:im|in (?:deinem|ihrem)) kalender\b"
        ),
    ),
)
# A sentence without one of these says nothing of the kind, and is not looked at any closer.
TRIGGERS = frozenset(VERBS) | word_set("live online raus unterwegs bescheid gone weg kalender calendar")
TRIGGER_PHRASE = re.compile(r"\b(?:its|their) way\b|\bwent out\b|\bgot rid\b|\blet (?:the |your |my )?\w+ know\b")
# About what was done in an earlier turn.
EARLIER = re.compile(
    r"\b(?:earlier|previously|already|before|yesterday|last time|last (?:message|step|turn)|so far"
    r"|as (?:mentioned|said)"
    r"|still|bereits|schon|vorhin|zuvor|gestern|bisher|wie (?:gesagt|erwähnt)|nach wie vor|noch immer)\b",
    re.IGNORECASE,
)
# History and what others did.
OF_OTHERS = re.compile(
    r"\bby (?!(?:me|us|skales|email|e-mail|mail|default|mistake|hand)\b)\w+|\b(?:von|durch) (?!mir\b"
    r"|uns\b)(?:[A-ZÄÖÜ]\w+"
    r"|(?:der|dem|den|einem|einer) [A-ZÄÖÜ]\w+)|\b(?:in|im Jahr|since|seit|until|bis|around|um|anno) (?:1\d\d\d"
    r"|20\d\d)\b"
    r"|\b(?:was|were|wurden?) (?:1\d\d\d|20\d\d)\b|^(?:1\d\d\d|20\d\d) (?:wurden?|was|were)\b"
    r"|\b(?:century|centuries|jahrhunderts?|jahrzehnt\w*|decades?|originally|historically|ursprünglich|damals|"
    r"automatically|automatisch|usually|typically|normally|generally|afterwards|anschließend|always|often"
    r"|sometimes|by default|standardmäßig|"
    r"üblicherweise|normalerweise|meistens|immer|oft|manchmal|jedes mal|every time|each time|according to|laut)\b"
    r"|\bfirst (?:published|released|written|built|created|sent|deployed)\b|\b(?:years?|months?|days?|hours?) ago\b"
    r"|\bvor (?:\w+ )?(?:jahren|monaten|wochen|tagen|stunden)\b",
    re.IGNORECASE,
)
# A moment, as a log or a mailbox tells it.
TOLD_TIME = re.compile(
    r"\b(?:at|um|gegen) \d{1,2}[:.]\d\d|\b(?:on|am|last|letzten?) (?:mon|tues|wednes|thurs|fri|satur|sun)day"
    r"|\bon \w+ \d"
    r"|\b(?:am|letzten?) (?:montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag|\d{1,2}\.)"
    r"|\b(?:yesterday|gestern|vorgestern|last (?:week|month|night|year|spring|summer|autumn|winter)"
    r"|letzte[nrs]? (?:woche|nacht|monat|jahr|sommer|winter))\b|\bago\b",
    re.IGNORECASE,
)
# Asks somebody to see to it, or hands out a condition.
ADVICE = re.compile(
    r"^(?:please |bitte |then |dann )?(?:make sure|check|verify|ensure|see (?:if|whether)|be sure"
    r"|confirm (?:that|whether)|"
    r"let me know|tell me|stell(?:e|en)? (?:sie )?sicher|prüf(?:e|en)?\b|achte|sag(?:e|en)?\b|for example|e\.g\.|"
    r"zum beispiel|z\. ?b\.|imagine|suppose|angenommen|example|beispiel|tip|tipp|hinweis|note)\b",
    re.IGNORECASE,
)
