#!/bin/sh
# Builds a root file system of Debian 13 with nginx, its Lua modules and the
# tester of its PCRE2, and prints its path. Sluice starts nginx from it (--nginx-root) without chroot.
#
#	test/rootfs/build.sh [DIR]
#
# DIR defaults to ~/.cache/sluice/nginx-rootfs-<hash of what goes into it>. What
# is there already is built again only if the recipe has changed. Needs
# mmdebstrap and debian-archive-keyring; works as root and, with fakechroot, as
# any user.
set -eu

. "$(dirname "$0")/../../rootfs/mmdebstrap.sh"
packages=nginx,libnginx-mod-http-lua,libnginx-mod-stream,libnginx-mod-http-headers-more-filter,libnginx-mod-http-modsecurity,modsecurity-crs,lua-resty-core,lua-resty-lrucache,lua-cjson,pcre2-utils
recipe=2 # raise it to have all caches built again

hash=$(printf '%s' "$suite $packages $(dpkg --print-architecture 2>/dev/null || uname -m) $recipe" | sha256sum | cut -c1-12)
dir=${1:-${XDG_CACHE_HOME:-$HOME/.cache}/sluice/nginx-rootfs-$hash}
case $dir in /*) ;; *) dir=$PWD/$dir ;; esac

if [ "$(cat "$dir/.recipe" 2>/dev/null)" = "$hash" ]; then
	echo "$dir"
	exit 0
fi
if [ -e "$dir" ] && [ ! -e "$dir/.recipe" ]; then
	echo "build.sh: $dir exists and is no nginx root: remove it or name another directory" >&2
	exit 1
fi
needMmdebstrap '"apt-get install mmdebstrap debian-archive-keyring"'

mkdir -p "$(dirname "$dir")"
# The directory is made beside its place and renamed, so that it is whole or
# not there, whoever else builds it at the same time.
work=$(mktemp -d "$dir.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

# The packages are only unpacked. Without root their scripts would run with this
# system's preloaded libraries, and nginx does not need what they do.
mode=auto
[ "$(id -u)" = 0 ] || mode=fakechroot
unpack "$packages" --mode=$mode --format=directory "$suite" "$work/root" "$(configured debian)"

chmod 755 "$work/root"
echo "$hash" >"$work/root/.recipe"
# One of another recipe makes room.
[ ! -e "$dir" ] || mv -T "$dir" "$work/old" 2>/dev/null || true
if ! mv -T "$work/root" "$dir" 2>/dev/null && [ "$(cat "$dir/.recipe" 2>/dev/null)" != "$hash" ]; then
	echo "build.sh: cannot rename $work/root to $dir" >&2
	exit 1
fi
echo "$dir"
