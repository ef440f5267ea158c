"""Which commands do nothing but look."""

import pytest

from skales.security.shell_looking import only_looks


@pytest.mark.parametrize(
    "command",
    [
        "ls -la",
        "cat a.txt | wc -l",
        "grep -rn word . && head -3 a.txt",
        "git status",
        "git log --oneline --stat",
        "date",
        "pwd; whoami",
        "echo done",
    ],
)
def test_a_look(command: str) -> None:
    assert only_looks(command)


@pytest.mark.parametrize(
    "command",
    [
        "",
        "rm a",
        "curl http://x",
        "cat a; curl http://x",
        "cat a > b",
        "cat <(curl http://x)",
        "echo $(rm a)",
        "echo `rm a`",
        "cat $FILE",
        "PAGER=evil git log",
        "git -c core.pager=evil log",
        "git log --output=x",
        "git diff --ext-diff",
        "git push",
        "find . -delete",
        "sort a -o b",
        "uniq a b",
        "date -s 2000-01-01",
        "hostname evil",
        "rg --pre evil x",
        "tree -o x",
        "env rm a",
        "sh -c ls",
        "./cat a",
        "for x in 1; do ls; done",
        "f() { rm a; }; ls",
        "sed -i s/a/b/ c",
        "python3 -c 1",
    ],
)
def test_more_than_a_look(command: str) -> None:
    assert not only_looks(command)
