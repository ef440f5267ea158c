# Sourced by scripts/run and scripts/test: finds Python, makes .venv, installs what the lock files name. Safe to repeat.

say() { printf '%s\n' "$*" >&2; }

as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; elif command -v sudo >/dev/null; then sudo "$@"; else return 1; fi
}

# Installs Debian packages that are missing; says what to do where it cannot.
need_packages() {
    local missing=()
    for package in "$@"; do
        dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
    done
    [ ${#missing[@]} -eq 0 ] && return 0
    say "Installing system packages: ${missing[*]}"
    if command -v apt-get >/dev/null && as_root apt-get update -qq \
        && as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null; then
        return 0
    fi
    say "error: these packages are missing and could not be installed: ${missing[*]}"
    say "Install them with your system's package manager, then run this again."
    return 1
}

find_python() {
    local candidate
    for candidate in python3 python3.14 python3.13 python3.12 python3.11; do
        if command -v "$candidate" >/dev/null && "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
            command -v "$candidate"
            return 0
        fi
    done
    say "error: Python 3.11 or newer is needed, and none was found on the PATH."
    return 1
}

make_venv() {
    [ -x .venv/bin/python ] && .venv/bin/python -m pip --version >/dev/null 2>&1 && return 0
    local python
    python=$(find_python)
    rm -rf .venv
    # Debian splits venv off; without it the module exists but cannot bring pip.
    if ! "$python" -m venv .venv >/dev/null 2>&1; then
        rm -rf .venv
        need_packages "python$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')-venv"
        "$python" -m venv .venv
    fi
}

# install_lock FILE: installs exactly the locked versions, once per content of the file.
install_lock() {
    local stamp
    stamp=".venv/installed-$(basename "$1")-$(sha256sum "$1" pyproject.toml | sha256sum | cut -c1-16)"
    [ -e "$stamp" ] && return 0
    say "Installing Python packages from $1 (once)"
    .venv/bin/python -m pip install -qq --disable-pip-version-check --require-hashes -r "$1"
    .venv/bin/python -m pip install -qq --disable-pip-version-check --no-build-isolation --no-deps --editable .
    touch "$stamp"
}
