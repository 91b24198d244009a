# shellcheck shell=sh
# Functions of rootfs/debian.sh and test/rootfs/build.sh, which source this file: they
# unpack Debian's packages into a root file system, without running their scripts.

# shellcheck disable=SC2034 # the scripts that source this file use it
suite=trixie # the codename of Debian stable

# needMmdebstrap ends the script if mmdebstrap is missing; $1 is the way to install it.
needMmdebstrap() {
	command -v mmdebstrap >/dev/null && return
	echo "$(basename "$0"): mmdebstrap not found: install it with $1" >&2
	exit 1
}

# configured prints the first mirror of an archive in apt's sources, in either format, or
# else Debian's own.
configured() {
	found=$(cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources 2>/dev/null |
		sed -n -E -e 's/^deb +(\[[^]]*\] +)?([^ ]+) .*$/\2/p' -e 's/^URIs: *([^ ]+).*$/\1/p' |
		sed -n -E "s#^((https?|file)://.*/$1)/?\$#\\1#p" | head -n 1)
	echo "${found:-http://deb.debian.org/$1}"
}

# proxies prints the proxies of apt as options: mmdebstrap does not read apt's settings.
proxies() {
	apt-config dump 2>/dev/null | sed -n -E 's/^(Acquire::https?::Proxy "[^"]+";)$/--aptopt=\1/p'
}

# unpack PACKAGES ARGUMENT... runs mmdebstrap. The arguments are its options, the suite,
# the target and the sources. Its output goes to stderr.
unpack() {
	include=$1
	shift
	set -- --variant=extract --include="$include" --aptopt='APT::Install-Recommends "false"' \
		--dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/info/*' \
		--dpkgopt='path-exclude=/usr/share/locale/*' --dpkgopt='path-exclude=/usr/share/doc/*' \
		--dpkgopt='path-include=/usr/share/doc/*/copyright' "$@"
	keyring=/usr/share/keyrings/debian-archive-keyring.gpg
	[ ! -e "$keyring" ] || set -- --keyring="$keyring" "$@"
	proxy=$(proxies)
	if [ -n "$proxy" ]; then
		old=$IFS
		IFS='
'
		# One argument for each line.
		# shellcheck disable=SC2086
		set -- $proxy "$@"
		IFS=$old
	fi
	mmdebstrap "$@" >&2
}
