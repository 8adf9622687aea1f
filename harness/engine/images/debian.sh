#!/bin/sh
# The Debian side of an image build, for any Debian-family system: this host, or a throwaway builder container.
#
#   debian.sh VERB FOLDER [ARGUMENT...]
#
#   tools                      make sure that mmdebstrap is there; install it where that is possible
#   index SUITE ARCH           fetch SUITE's package index from this system's own Debian mirrors
#   resolve NAME...            print the minbase set with NAMEs: name version architecture sha256
#   offered NAME...            print every version that the mirrors have now, in the same form
#   download                   fetch FOLDER/want (lines as above) into FOLDER/debs/SHA256.deb, as far as possible
#   archived                   the same from Debian's snapshot archive, by debsnap
#   rootfs SUITE ARCH EPOCH    install FOLDER/want from FOLDER/debs, without any network, to FOLDER/rootfs.tar
#
# It names no host: mirrors come from the system's own settings, else from mmdebstrap's own default.
set -eu
verb=$1
work=$2
shift 2
export LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive TMPDIR="$work/tmp"
mkdir -p "$work/tmp" "$work/debs"

# The system's apt with a state of its own: nothing of the host's is read but its sources, keys and transport settings.
private() {
    tool=$1
    shift
    "$tool" -o Dir::State="$work/apt/state" -o Dir::State::status=/dev/null \
        -o Dir::Cache="$work/apt/cache" -o Dir::Cache::pkgcache=pkgcache.bin -o Dir::Cache::archives=archives \
        -o Dir::Etc::SourceList="$work/apt/sources.list" -o Dir::Etc::SourceParts=/dev/null \
        -o Dir::Etc::Preferences=/dev/null -o Dir::Etc::PreferencesParts=/dev/null \
        -o APT::Architecture="$(cat "$work/apt/architecture")" -o APT::Architectures::="$(cat "$work/apt/architecture")" \
        -o APT::Sandbox::User=root -o Acquire::Languages=none -o Acquire::Retries=2 "$@"
}

# Install packages on this system when we may.
need() {
    command=$1
    shift
    if command -v "$command" >/dev/null; then return 0; fi
    if [ "$(id -u)" != 0 ]; then
        echo "$command is missing: run 'apt-get install $*' as root" >&2
        exit 3
    fi
    if apt-get -qq install -y --no-install-recommends "$@" >"$work/tmp/install.log" 2>&1; then return 0; fi
    apt-get -qq update >"$work/tmp/install.log" 2>&1 || true
    apt-get -qq install -y --no-install-recommends "$@" >"$work/tmp/install.log" 2>&1 || {
        tail -n 3 "$work/tmp/install.log" >&2
        exit 3
    }
}

# The system's Debian sources with the release's name replaced by ours.
sources() {
    suite=$1
    keyring=
    for file in /usr/share/keyrings/debian-archive-keyring.pgp /usr/share/keyrings/debian-archive-keyring.gpg; do
        if [ -e "$file" ]; then keyring="[signed-by=$file]"; fi
    done
    own=$(. /etc/os-release && echo "${VERSION_CODENAME:-none}")
    apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(ORIGIN)' 'Created-By: Packages' 'Component: main' |
        while read -r uri release origin; do
            case $origin in Debian | '' | '$(ORIGIN)') ;; *) continue ;; esac
            case $release in
            "$own" | stable | oldstable) echo "deb $keyring $uri $suite main" ;;
            "$own-updates" | stable-updates | oldstable-updates) echo "deb $keyring $uri $suite-updates main" ;;
            "$own-security" | stable-security | oldstable-security) echo "deb $keyring $uri $suite-security main" ;;
            esac
        done | sort -u >"$work/apt/sources.list"
    if ! grep -q " $suite main" "$work/apt/sources.list"; then
        # mmdebstrap knows Debian's default mirrors: it writes them before anything else, and we stop it there.
        mmdebstrap --quiet --variant=custom --setup-hook="cp \"\$1/etc/apt/sources.list\" '$work/apt/'; exit 1" \
            "$suite" /dev/null >/dev/null 2>&1 || true
    fi
}

triples() {
    awk '/^Package: /{n=$2} /^Version: /{v=$2} /^Architecture: /{a=$2} /^SHA256: /{print n, v, a, $2}' | sort -u
}

case $verb in
tools)
    need mmdebstrap mmdebstrap
    ;;
index)
    mkdir -p "$work/apt/state/lists/partial" "$work/apt/cache/archives/partial"
    echo "$2" >"$work/apt/architecture"
    sources "$1"
    private apt-get -qq update
    ;;
resolve)
    private apt-get -qq -s -y --no-install-recommends install '?essential' '?priority(required)' apt "$@" |
        awk '/^Inst /{sub(/^\(/, "", $3); print $2 "=" $3}' >"$work/set"
    # shellcheck disable=SC2046
    private apt-cache show $(cat "$work/set") | triples
    ;;
offered)
    private apt-cache show --all-versions "$@" 2>/dev/null | triples
    ;;
download)
    cd "$work/apt/cache/archives"
    # shellcheck disable=SC2046
    private apt-get -qq download $(awk '{print $1 "=" $2}' "$work/want") >/dev/null
    for file in *.deb; do
        sum=$(sha256sum "$file")
        mv "$file" "$work/debs/${sum%% *}.deb"
    done
    ;;
archived)
    # debsnap is Debian's own client of the archive; one that can't be reached must not hold a build up for long.
    need debsnap devscripts libwww-perl liblwp-protocol-https-perl
    while read -r name version architecture _; do
        mkdir -p "$work/tmp/snap"
        timeout 60 debsnap --force --binary --architecture "$architecture" --destdir "$work/tmp/snap" "$name" "$version" >&2
        for file in "$work/tmp/snap"/*.deb; do
            [ -e "$file" ] || continue
            sum=$(sha256sum "$file")
            mv "$file" "$work/debs/${sum%% *}.deb"
        done
    done <"$work/want"
    ;;
rootfs)
    while read -r _ _ _ sum; do
        dpkg-deb --field "$work/debs/$sum.deb"
        printf 'Filename: ./debs/%s.deb\nSize: %s\nSHA256: %s\n\n' "$sum" "$(stat -c %s "$work/debs/$sum.deb")" "$sum"
    done <"$work/want" >"$work/Packages"
    sum=$(sha256sum <"$work/Packages")
    printf 'Suite: %s\nCodename: %s\nSHA256:\n %s %s Packages\n' "$1" "$1" "${sum%% *}" \
        "$(stat -c %s "$work/Packages")" >"$work/Release"
    export SOURCE_DATE_EPOCH="$3"
    # Bytecode that the packages' scripts made depends on the moment; ours depends on the sources alone (bytecode.py).
    # shellcheck disable=SC2016
    compile='find "$1" -xdev -name __pycache__ -prune -exec rm -r {} +
        chroot "$1" /usr/bin/env -i PATH=/usr/bin LANG=C.UTF-8 PYTHONHASHSEED=0 python3 -s -m compileall -q -f \
            --invalidation-mode unchecked-hash /usr/lib/python3 "/usr/lib/$(readlink "$1/usr/bin/python3")" || true'
    names=$(awk '{printf "%s%s", sep, $1; sep = ","}' "$work/want")
    mmdebstrap --quiet --variant=minbase --architectures="$2" --include="$names" --format=tar \
        --aptopt='Acquire::Languages "none"' --aptopt='APT::Sandbox::User "root"' \
        --customize-hook="$compile" --dpkgopt=force-unsafe-io --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/locale/*' \
        "$1" "$work/rootfs.tar" "deb [trusted=yes] copy:$work ./" </dev/null >&2
    ;;
*)
    echo "debian.sh: no such verb: $verb" >&2
    exit 2
    ;;
esac
