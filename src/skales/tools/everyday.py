"""Everyday words and turns of phrase that say what a person is about without a word that a tool is described with.

Beside the search words of one tool (`found_by`), these hold for every tool that knows the hinted words.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

# Hinted words, and the words that hint at them: written without umlauts, each the beginning of a word or the end of a
# German compound.
_GROUPS: Sequence[tuple[str, str]] = (
    (
        "datei file",
        """
        abrechnung adressliste agreement angebot anleitung antrag arbeitsvertrag attachment attest aufsatz
        ausweis bachelorarbeit bank befund bericht bescheid bewerbung brochure broschuere catalogue chapter
        config contract diagnose einladung einstellungsdatei essay excelliste fahrkarte flyer formular
        fuehrerschein garantie gedicht gehaltszettel gutachten handbuch hausarbeit insurance inventar inventory
        invitation invoice kapitel katalog kontoauszug kuendigung lease lebenslauf letter liste logfile
        lohnzettel lyrics mahnung manual manuscript manuskript memo mietvertrag minutes notes novel offer
        packliste paper passport payslip plakat police protokoll quittung receipt rechnung rede reisepass report
        resume rezept roman scan schreiben songtext speech statement steuerbescheid steuererklaerung telefonliste
        thesis ticket transcript urkunde versicherung vertrag warranty zettel zeugnis
        """,
    ),
    (
        "foto photo bild picture datei file",
        """
        album bilder drawing fotos grafik hochzeit logo photos pictures portrait schnappschuss selfies sketch
        skizze snapshot urlaubsbilder wedding zeichnung
        """,
    ),
    (
        "ordner folder verzeichnis directory",
        """
        assets cloud desktop documents dokumente downloads drive dropbox externe hdd laufwerk mappe onedrive
        platte schreibtisch sd ssd stick usb
        """,
    ),
    (
        "lesen read inhalt content",
        """
        about anguck deadline demands durchles erklaer explain fordert frist gist guck gucke kernaussage
        quintessenz sagt said says schau skim ueberflieg verlangt vorles worum zusammenfass
        """,
    ),
    (
        "finden find suchen search",
        """
        anywhere aufspuer dig disappeared gespeichert hingelegt hingetan irgendwo kram look lost missing
        rumliegen somewhere steckt stored verlegt verloren vermisse verschwunden weg
        """,
    ),
    (
        "aendern edit korrigieren fix",
        """
        adjust anpass comma draus entfern falsch falsche fehler incorrect instead komma misspelled mistake
        outdated rechtschreibfehler remove should spelling statt stimmt streich tweak update veraltet verbesser
        verschreib vertippt wrong
        """,
    ),
    (
        "ersetzen replace ueberall every",
        """
        austausch consistently durchgehend saemtlich swap tausch throughout ueberall umgestellt umschreib
        wherever
        """,
    ),
    (
        "verschieben move",
        """
        aufraeum cleanup drag einordnen organise organize raeum reinpack relocate rueber shift sort sortier steck
        stick tidy umsortier umzieh unterbring verlager zieh
        """,
    ),
    (
        "kopieren copy duplicate",
        """
        backup clone doppelt klon kopie nochmal replica rumprobier sicher sicherheitshalber spare twice
        vervielfaeltig vorsichtshalber
        """,
    ),
    (
        "loeschen delete papierkorb trash",
        """
        aufraeum ausmist ballast bin clear ditch entfern entruempel entsorg entsorgen garbage junk lose muell
        nuke purge remove throw toss unneeded unnoetig weg wegmach wegschmeiss wegwerf wipe
        """,
    ),
    (
        "zip packen archive compress",
        """
        buendel bundle compressed einzige email kleiner komprimier mailen shrink single smaller verklein verpack
        verschick zusammenpack
        """,
    ),
    (
        "anhaengen append ende end",
        "additionally below dahinter darunter dazu dranhaeng eintrag entry ergaenz hinten jot obendrein unten",
    ),
    (
        "schreiben write save speichern",
        "anleg aufschreib capture create draft erzeug festhalt festhalten jot niederschreib notier schreib",
    ),
    (
        "run_script script skript python",
        """
        auswert batch berechne bulk calculate convert durchschnitt einzelne hundert hundreds jede konvertier
        massen median rechne rename resize simulate sortiere stapel statistics statistik tausend thousand
        umbenenn umrechn
        """,
    ),
    (
        "prozesse processes cpu langsam slow",
        """
        akku auslastung battery crawling ewig fan forever freezes haengt hakt hangs hog hot lag laggy lahm
        lang load luefter noisy ruckel schuld sluggish stottert traege zaeh
        """,
    ),
    (
        "rechner computer system",
        """
        ausstattung betriebssystem cores gpu grafikkarte hardware kern kiste laptop linux mac macbook notebook os
        pc prozessor ram seriennummer specs ubuntu version windows
        """,
    ),
    (
        "beenden kill stop programm program",
        """
        abgestuerzt abwuerg aufgehaengt crashed eingefroren erwuerg frozen hangs reagiert schiess shut stopp
        stuck task unkillable unresponsive wuerg zumach
        """,
    ),
    (
        "platz space disk speicherplatz",
        "free frei full gb gigabyte knapp megabyte room speicher storage tb terabyte voll vollgelaufen",
    ),
    (
        "bildschirm screen screenshot",
        """
        anzeige blink desktop dialog display error fehlermeldung fenster flacker flicker meldung monitor popup
        schirm seh sehe warning warnung
        """,
    ),
    (
        "klicken click button knopf",
        """
        abbrechen absenden accept akzeptier bestaetig checkbox confirm druecke haekchen icon link menu menue next
        ok reiter schliessen submit symbol tab weiter
        """,
    ),
    (
        "taste key press",
        "alt arrow cmd ctrl enter escape f11 f5 hit leertaste pfeil shift shortcut space strg tab tastenkuerzel",
    ),
    (
        "netzwerk network geraete devices",
        """
        angemeldet connected drucker eingeloggt fernseher fremd fritzbox handy heimnetz ip kamera lan nachbar nas
        neighbour netz phone printer router smart stranger tv wifi wlan
        """,
    ),
    (
        "wetter weather",
        """
        baden barbecue beach bewoelkt bike celsius cloudy coat drizzle fahrrad fog freeze freezing frier
        frost gewitter glatteis grad grillen hagel hail hike humid icy jacke kalt nass nebel niesel picnic
        radtour rain regen schirm schnee schwuel snow snowing sonne sonnenbrand strand sturm sunny sunscreen
        thunder umbrella unwetter wandern wet wind windy
        """,
    ),
    (
        "google internet web news search_web",
        """
        aerzte airport aktie arzt bahn benzin beste bester bitcoin boerse bundesliga capital ceo champion
        cheapest chef cinema coach concert cost diesel einwohner election empfehlung erscheint erschienen
        exchange flughafen foerderung geoeffnet gesetz guenstigste hauptstadt headline hotel impfpflicht
        inflation kanzler kino konzert kostet kurs laden law lyrics minister movie nachricht oeffnungszeiten open
        opening petrol population praesident preis premiere president rate recipe recommend release released
        restaurant rezept season serie share shop show staffel steuersatz stock store streik strike subsidy
        ticket tour train trainer visa visum wahl wechselkurs weltmeister werkstaetten zinsen zug zuschuss
        """,
    ),
    (
        "termin appointment planner planer eintragen",
        """
        abendessen abgabe abholen anniversary anruf arzt besorg besprechung besuch bezahl birthday buy calendar
        call checkup conference date deadline delivery dentist dinner elternabend exam feier flight flug friseur
        geburtstag haircut hochzeitstag impfung interview jubilaeum kalender kauf konferenz kontrolle kuendigen
        lieferung lunch meeting mittagessen party pay pickup pruefung sport telefonat termin training treffen
        tuev verabredung visit vorstellungsgespraech webinar werkstatt zahnarzt
        """,
    ),
    (
        "merken remember",
        """
        allergi allergic always arbeite dran dutz duz esse fuerchte future hasse hate heisse immer intolerant
        kuenftig lebe liebe lieber live love mag mind nenn never niemals prefer siez unvertraeglich vegan
        vegetarier vergess wohne zukunft
        """,
    ),
    (
        "erinnern memory know weisst",
        """
        blood blutgruppe cat dog erwaehnt erzaehlt favorite favourite genannt gesagt groesse hobby hund katze
        kennst kids kinder lieblings lieblingsfarbe mein meine mentioned partner pet schuhgroesse size told weiss
        """,
    ),
    (
        "besprochen talked conversation gespraech",
        """
        ago chat damals discussed earlier empfahl empfohlen gestern gezeigt idee kuerzlich letztens meintest
        neulich recently recommended showed spoke suggested tipp trick unterhalt vorhaben vorhin vorschlag while
        yesterday
        """,
    ),
    (
        "jeden every recurring regelmaessig",
        """
        abends daily dienstags donnerstags evenings fortnight freitags hourly immer jaehrlich mittags mittwochs
        monatlich montags monthly morgens mornings quarterly samstags sonntags stuendlich taeglich weekdays
        weekends weekly werktags wiederkehrend woechentlich yearly
        """,
    ),
    (
        "delete_scheduled_task zeitplan scheduled",
        """
        abbestell abendlich abstell annoying aufhoer bericht cancel digest erinnerung hoer morgendlich naechtlich
        nervt nightly reminder report summary unsubscribe zusammenfassung
        """,
    ),
    (
        "ftp hochladen upload webspace",
        "homepage hoster hosting webserver webspace",
    ),
    (
        "git commit repository",
        "branch checkin checkout codebase einchecken github gitlab merge repo repository sourcecode version",
    ),
    (
        "folien presentation powerpoint slides",
        "deck keynote lecture pitch praesentier presenting referat talk vortrag",
    ),
    (
        "excel spreadsheet tabelle",
        "ausgaben budget expenses haushaltsplan kalkulation kassenbuch sales stundenzettel timesheet umsatz",
    ),
    (
        "word document dokument",
        """
        anschreiben antrag beschwerde bewerbung brief certificate complaint kuendigung letter objection
        widerspruch
        """,
    ),
    (
        "subtasks parallel gleichzeitig",
        "jeweils nebeneinander parallel separately simultaneously zeitgleich zugleich",
    ),
    (
        "notification benachrichtigen",
        "bescheid bing klingel melde notify ping signal",
    ),
    (
        "hintergrund background create_task",
        "eile feierabend irgendwann nachts nebenbei overnight rush schlafe sleep spaeter whenever",
    ),
    (
        "webseite website page",
        "blog forum homepage online portal seite site wiki",
    ),
    (
        "git diff changed",
        "alter altered changed geaendert zeilen",
    ),
)
# Turns of phrase, and what they hint at: words, or tools by name.
_PHRASES: Sequence[tuple[str, str]] = (
    (
        r"\b(?:every|each|alle|jede[nrsm]?)\s+(?:other|second|third|zwei|drei|paar|\d+|zweiten?|"
        r"einzelnen)?\s*(?:day|week|month|hour|minute|tage?|woche|monat|stunde|minute|morgen|abend|mon|tues|"
        r"wednes|thurs|fri|satur|sun)",
        "jeden every recurring regelmaessig schedule",
    ),
    (
        r"\b(?:who|wer)\s+(?:is|ist|was|war|won|hat|wurde|gewann|invented|erfand)\b",
        "google internet search_web",
    ),
    (
        r"\b(?:when|wann|how much|how many|was kostet|wie teuer|wie viel)\b",
        "google",
    ),
    (
        r"\b(?:\d{1,2}(?::\d\d)?\s*(?:uhr|am|pm|o'clock)|on the \d+(?:st|nd|rd|th)|am \d{1,2}\.)",
        "termin planner appointment",
    ),
    (
        r"\b(?:naechsten?|kommenden?|next)\s+(?:woche|week|mon|diens|mittw|donn|frei|sams|sonn|tues|wednes|"
        r"thurs|fri|satur|sun)",
        "termin planner",
    ),
    (
        r"\b(?:where|wo)\b.*\b(?:is|are|did|ist|sind|hab|habe|liegt|liegen)\b",
        "find_files finden",
    ),
    (
        r"\b(?:what s|what is|was ist|was steht|whats)\b.*\b(?:in|on|drin|drauf)\b",
        "list_directory read_file inhalt",
    ),
    (
        r"\b(?:drauf|drin|drinnen)\b",
        "list_directory inhalt",
    ),
    (
        r"\b(?:in welche[nrm]?|in which|which of)\b.*",
        "search_in_files durchsuchen",
    ),
    (
        r"\bmentions?\b|\berwaehnt\b|\bfunktion\b|\bfunction\b",
        "search_in_files grep",
    ),
    (
        r"\bmach\w*\b.*\b(?:zu|aus|draus)\b",
        "schliessen beenden aendern",
    ),
    (
        r"\b(?:kann|koennen|can)\b.*\bweg\b",
        "delete_scheduled_task delete_file loeschen",
    ),
    (
        r"\b(?:hatte[nst]*|had)\b.*\b(?:dir|you|du)\b|\bwe (?:talked|discussed|spoke)\b",
        "memory_search search_sessions",
    ),
    (
        r"\b(?:in mind|denk\b.*\bdran|my \w+ s? ?name|ich (?:bin|mag|esse|hasse))\b",
        "memory_write merken remember",
    ),
    (
        r"\b(?:pull|grab|get|scrape|hol|zieh)\b.*\b(?:off|from|von|aus)\b",
        "herunterladen download scrape",
    ),
    (
        r"\b(?:leg|put|pack|tu|steck|schieb|stick|drop|place|move|bring|raeum|verschieb)\w*\b.*\b(?:in|into|"
        r"nach|to|unter|under)\b",
        "move_file",
    ),
    (
        r"\b(?:setz|schreib|pack|add|put|stick)\w*\b.*\b(?:liste|list|kalender|calendar|to ?dos?)\b",
        "planner_create_task",
    ),
    (
        r"\b(?:fuer|for|am|on|by|bis)\s+(?:mon|diens|mittw|donn|frei|sams|sonn|tues|wednes|thurs|fri|satur|"
        r"sun|morgen\b|tomorrow|uebermorgen)",
        "planner_create_task",
    ),
    (
        r"\b(?:was|what|anything)\b.*\b(?:morgen|tomorrow|heute|today|woche|week)\b",
        "planner_list_tasks",
    ),
    (
        r"\b(?:zeig|show|list|liste|see|view)\w*\b.*\b(?:ordner|folder|verzeichnis|directory)\b",
        "list_directory",
    ),
    (
        r"\b(?:bildschirm|screen|fenster|window|dialog)\b",
        "computer_click computer_type computer_find screenshot_desktop",
    ),
    (
        r"\b(?:druecke?|press|hit)\b",
        "computer_key computer_click",
    ),
    (
        r"\b(?:nicht|nie)\s+(?:mehr|laenger|laengst)\b|\b(?:no longer|don t need|not needed|any ?more)\b",
        "delete_file delete_task delete_scheduled_task",
    ),
    (
        r"\b(?:ich (?:bin|heisse|mag|wohne|arbeite|esse|trinke|hasse|liebe)|my name|i (?:am|like|love|hate|"
        r"prefer|live|work|take|drink|eat))\b",
        "memory_write",
    ),
    (
        r"\b(?:weisst du|do you (?:know|remember)|what s my|what is my|wie heisst mein|wann hat mein|"
        r"kennst du mein)\b",
        "memory_search",
    ),
    (
        r"\b(?:did we|have we|were we|hatten wir|haben wir|did i (?:tell|ask)|hast du|you (?:said|told|wrote|"
        r"suggested))\b",
        "search_sessions",
    ),
    (
        r"\b(?:jeden?|jede[rs]?|every|each|immer|always)\b",
        "schedule_recurring_task",
    ),
    (
        r"\b(?:is|ist|sind|are|laeuft)\s+\w+\s+(?:offen|open|running|an|gestartet|still)\b",
        "list_processes",
    ),
    (
        r"\b(?:wie (?:gross|schwer|viel) (?:ist|sind)|how (?:big|large|heavy))\b",
        "get_file_info get_disk_usage",
    ),
    (
        r"\b(?:welcher? tag|wie spaet|what time|what day|datum heute|which week)\b",
        "get_system_info",
    ),
    (
        r"\b(?:gibt es|is there|are there)\b.*\b(?:neu|news|new)",
        "search_web",
    ),
    (
        r"\b(?:write|draft|compose|verfass|formulier|schreib|setz)\w*\b.*\b(?:letter|brief|schreiben|contract|"
        r"vertrag|report|bericht|invitation|einladung)",
        "create_document",
    ),
    (
        r"\b(?:fix|change|update|correct|korrigier|aender|aktualisier|setz|stell)\w*\b",
        "edit_file",
    ),
)
_LEAST_BEGINNING = 5  # letters that a hinting word may be the beginning or the end of a longer one


def hints_of(request: str) -> Sequence[str]:
    """What a request hints at, each hint in words that mean the same; `request` has no capitals, accents or umlauts."""
    words = dict.fromkeys(re.findall(r"[a-z0-9]+", request))
    said = [hinted for word in words for form in _forms(word) for hinted in _BY_WORD.get(form, ())]
    turned = [hinted for pattern, hinted in _BY_PHRASE if pattern.search(request)]
    return list(dict.fromkeys([*said, *turned]))


def _forms(word: str) -> Iterator[str]:
    """The word, its beginnings, and its ends."""
    yield word
    for place in range(_LEAST_BEGINNING, len(word)):
        yield word[:place]
        yield word[-place:]


def _turn_round(groups: Sequence[tuple[str, str]]) -> Mapping[str, Sequence[str]]:
    by_word: dict[str, list[str]] = {}
    for hinted, hinting in groups:
        for word in hinting.split():
            by_word.setdefault(word, []).append(hinted)
    return by_word


_BY_WORD = _turn_round(_GROUPS)
_BY_PHRASE = [(re.compile(pattern), hinted) for pattern, hinted in _PHRASES]
