#!/bin/sh
# Writes the Debian part of the image's root file system to a tar archive, without
# a container engine.
#
#	rootfs/debian.sh ARCHITECTURE FILE
#
# The packages of rootfs/packages and their dependencies are only unpacked, none
# of their scripts is run; so that any architecture can be made on any other,
# without an emulator. What scripts would have done and is needed is done by
# rootfs/finish.sh. Needs mmdebstrap and debian-archive-keyring; works as root,
# and as any user. SLUICE_DEBIAN_MIRROR and SLUICE_DEBIAN_SECURITY_MIRROR name
# other mirrors.
set -eu

architecture=$1
file=$2
here=$(cd "$(dirname "$0")" && pwd)
suite=trixie # the codename of Debian stable
keyring=/usr/share/keyrings/debian-archive-keyring.gpg

if ! command -v mmdebstrap >/dev/null; then
	echo 'debian.sh: mmdebstrap not found: install it with "test/setup.sh --image"' >&2
	exit 1
fi

# configured prints the first mirror of an archive that apt is configured with,
# or else the one that Debian names.
configured() {
	found=$(cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources 2>/dev/null |
		sed -n -E -e 's/^deb +(\[[^]]*\] +)?([^ ]+) .*$/\2/p' -e 's/^URIs: *([^ ]+).*$/\1/p' |
		sed -n -E "s#^((https?|file)://.*/$1)/?\$#\\1#p" | head -n 1)
	echo "${found:-http://deb.debian.org/$1}"
}

# Proxies are apt's own settings; mmdebstrap does not read the host's.
proxies() {
	apt-config dump 2>/dev/null | sed -n -E 's/^(Acquire::https?::Proxy "[^"]+";)$/--aptopt=\1/p'
}

mirror=${SLUICE_DEBIAN_MIRROR:-$(configured debian)}
security=${SLUICE_DEBIAN_SECURITY_MIRROR:-$(configured debian-security)}
packages=$(sed -e 's/#.*//' "$here/packages" | xargs | tr ' ' ',')

# Without root and without user namespaces, mmdebstrap's tar would be that of the
# new system with the libraries of this one. So it leaves a folder there.
mode=auto format=tar target=$file
if [ "$(id -u)" != 0 ] && ! unshare --user --map-root-user --map-auto true 2>/dev/null; then
	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
	trap 'exit 1' HUP INT TERM
	mode=fakechroot format=directory target=$work/root
fi
set -- --mode=$mode --variant=extract --format=$format --architectures="$architecture" --include="$packages" \
	--aptopt='APT::Install-Recommends "false"' \
	--dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/info/*' \
	--dpkgopt='path-exclude=/usr/share/locale/*' --dpkgopt='path-exclude=/usr/share/doc/*' \
	--dpkgopt='path-include=/usr/share/doc/*/copyright' \
	--extract-hook="sh '$here/finish.sh' \"\$1\""
[ -e "$keyring" ] && set -- "$@" --keyring="$keyring"
proxy=$(proxies)
if [ -n "$proxy" ]; then
	old=$IFS
	IFS='
'
	# One argument for each line.
	# shellcheck disable=SC2086
	set -- "$@" $proxy
	IFS=$old
fi
mmdebstrap "$@" "$suite" "$target" \
	"deb $mirror $suite main" "deb $mirror $suite-updates main" "deb $security $suite-security main" >&2
# Whom files belong to is not looked at by rootfs/pack.
[ "$target" = "$file" ] || tar -C "$target" -cf "$file" .
