"""Turns of phrase that take a sentence out of the account of what was done: earlier, by others, in general, advice."""

import re

# About what was done in an earlier turn.
EARLIER = re.compile(
    r"\b(?:earlier|previously|already|before|yesterday|last time|last (?:message|step|turn)|so far"
    r"|as (?:mentioned|said)"
    r"|still|bereits|schon|vorhin|zuvor|gestern|bisher|wie (?:gesagt|erwähnt)|nach wie vor|noch immer)\b",
    re.IGNORECASE,
)
# History and what others did.
OF_OTHERS = re.compile(
    r"\bby (?!(?:the (?:window|way|door|sea|pool)|year|month|date|day|name|type|size|topic|one|now|noon|me|us|"
    r"skales|email|e-mail|mail|default|mistake|hand)\b)\w+|\b(?:von|durch) (?!mir\b"
    r"|uns\b)(?:(?-i:[A-ZÄÖÜ])\w+"
    r"|(?:der|dem|den|einem|einer) (?-i:[A-ZÄÖÜ])\w+)|\b(?:in|im Jahr|since|seit|until|bis|around|um|anno) (?:1\d\d\d"
    r"|20\d\d)\b"
    r"|\b(?:was|were|wurden?) (?:1\d\d\d|20\d\d)\b|^(?:1\d\d\d|20\d\d) (?:wurden?|was|were)\b"
    r"|\b(?:century|centuries|jahrhunderts?|jahrzehnt\w*|decades?|originally|historically|ursprünglich|damals|"
    r"automatically|automatisch|usually|typically|normally|generally|afterwards|anschließend|always|often"
    r"|sometimes|by default|standardmäßig|"
    r"üblicherweise|normalerweise|meistens|immer|oft|manchmal|jedes mal|jede[ns]? (?:tag|woche|monat|jahr)|"
    r"(?:every|each) (?:time|day|week|month|year)|according to|laut)\b"
    r"|\b(?:writes|says|wrote|said|reports|reported)\W*$"
    r"|,\s+(?:so\s+)?(?:schreibt|sagt|meldet|heißt es|steht|wie ich sehe)\b"
    r"|\bjudging by\b|\bfirst (?:published|released|written|built|created|sent|deployed)\b"
    r"|\b(?:years?|months?|days?|hours?) ago\b"
    r"|\bvor (?:\w+ )?(?:jahren|monaten|wochen|tagen|stunden)\b",
    re.IGNORECASE,
)
# A moment, as a log or a mailbox tells it.
TOLD_TIME = re.compile(
    r"\b(?:at|um|gegen) \d{1,2}[:.]\d\d|\b(?:on|am|last|letzten?) (?:mon|tues|wednes|thurs|fri|satur|sun)day"
    r"|\bon (?:the )?(?:\d|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)\w*"
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
# An answer that holds a text of its own making speaks of that text, too.
HANDS_OVER = re.compile(
    r"^(?:```|~~~|>)|\b(?:below|above|here(?:'s| is| are)|(?:as )?follows?|following|version|draft|unten|oben|"
    r"hier (?:ist|sind|kommt)|folgend\w*|entwurf|fassung|text|absatz|paragraph|rewrote|rewritten|"
    r"rephrased|reworded|shortened|translated|umformuliert|gekürzt|umgeschrieben|übersetzt|essay|gedicht|poem|story)\b|:\s*\n\s*\n?(?![-*+\d])",
    re.IGNORECASE | re.MULTILINE,
)
# An answer that tells how to do something: what is done there is done by whoever follows it.
INSTRUCTS = re.compile(
    r"(?:^|[.!?:]\s)(?:to \w+ [^.!?\n]{0,80}, (?!i\b|we\b)|um [^.!?\n]{0,80}\bzu\w* \w*,|um [^.!?\n]{0,80}zu\w+en,)",
    re.IGNORECASE | re.MULTILINE,
)
