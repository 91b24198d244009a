#!/bin/sh
# Writes the Debian part of the image's root file system to a tar archive, without
# a container engine.
#
#	rootfs/debian.sh ARCHITECTURE FILE
#
# The script unpacks the packages of rootfs/packages and their dependencies without
# running their scripts, so any machine can build for any architecture without an
# emulator. rootfs/finish.sh does the needed work of these scripts. Needs mmdebstrap and
# debian-archive-keyring; works for root and for any user. SLUICE_DEBIAN_MIRROR and
# SLUICE_DEBIAN_SECURITY_MIRROR name other mirrors.
set -eu

architecture=$1
file=$2
here=$(cd "$(dirname "$0")" && pwd)
. "$here/mmdebstrap.sh"
needMmdebstrap '"test/setup.sh --image"'

mirror=${SLUICE_DEBIAN_MIRROR:-$(configured debian)}
security=${SLUICE_DEBIAN_SECURITY_MIRROR:-$(configured debian-security)}
packages=$(sed -e 's/#.*//' "$here/packages" | xargs | tr ' ' ',')

# Without root and without user namespaces, mmdebstrap would run the tar of the new
# system with the libraries of this one. It makes a folder then, and we pack it.
mode=auto format=tar target=$file
if [ "$(id -u)" != 0 ] && ! unshare --user --map-root-user --map-auto true 2>/dev/null; then
	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
	trap 'exit 1' HUP INT TERM
	mode=fakechroot format=directory target=$work/root
fi
unpack "$packages" --mode=$mode --format=$format --architectures="$architecture" --extract-hook="sh '$here/finish.sh' \"\$1\"" "$suite" "$target" \
	"deb $mirror $suite main" "deb $mirror $suite-updates main" "deb $security $suite-security main"
# rootfs/pack ignores the owners of files.
[ "$target" = "$file" ] || tar -C "$target" -cf "$file" .
