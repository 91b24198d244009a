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

suite=trixie
packages=nginx,libnginx-mod-http-lua,libnginx-mod-stream,lua-resty-core,lua-resty-lrucache,lua-cjson,pcre2-utils
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
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
if ! command -v mmdebstrap >/dev/null; then
	echo 'build.sh: mmdebstrap not found: install it with "apt-get install mmdebstrap debian-archive-keyring"' >&2
	exit 1
fi

# mirror prints the first Debian mirror that apt is configured with, in either
# of its two formats; nothing where there is none.
mirror() {
	cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources 2>/dev/null |
		sed -n -E -e 's/^deb +(\[[^]]*\] +)?([^ ]+) .*$/\2/p' -e 's/^URIs: *([^ ]+).*$/\1/p' |
		sed -n -E 's#^((https?|file)://.*/debian)/?$#\1#p' | head -n 1
}

# Proxies are apt's own settings; mmdebstrap does not read the host's.
proxies() {
	apt-config dump 2>/dev/null | sed -n -E 's/^(Acquire::https?::Proxy "[^"]+";)$/--aptopt=\1/p'
}

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
set -- --mode=$mode --variant=extract --format=directory --include="$packages" \
	--dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/info/*' \
	--dpkgopt='path-exclude=/usr/share/locale/*' --dpkgopt='path-exclude=/usr/share/doc/*' \
	--dpkgopt='path-include=/usr/share/doc/*/copyright' \
	--customize-hook='rm -rf "$1"/var/cache/apt/* "$1"/var/cache/debconf/* "$1"/var/lib/apt/lists/* "$1"/var/log/*'
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
mmdebstrap "$@" "$suite" "$work/root" $(mirror) >&2

chmod 755 "$work/root"
echo "$hash" >"$work/root/.recipe"
# One of another recipe makes room.
[ ! -e "$dir" ] || mv -T "$dir" "$work/old" 2>/dev/null || true
if ! mv -T "$work/root" "$dir" 2>/dev/null && [ "$(cat "$dir/.recipe" 2>/dev/null)" != "$hash" ]; then
	echo "build.sh: cannot rename $work/root to $dir" >&2
	exit 1
fi
echo "$dir"
