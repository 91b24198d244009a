#!/bin/sh
# Finishes a root file system of unpacked packages: does the needed work of their
# scripts, and removes files that the image does not need. rootfs/debian.sh calls it
# with the folder, before apt's cache is emptied.
set -eu
root=${1:?want the folder of the root file system}
export LC_ALL=C

# dpkg's record of the installed packages, for scanners.
info=$root/var/lib/dpkg/info
mkdir -p "$info"
for deb in "$root"/var/cache/apt/archives/*.deb; do
	rm -rf "$info/new"
	dpkg-deb --control "$deb" "$info/new"
	name=$(sed -n 's/^Package: //p' "$info/new/control")
	if grep -q '^Multi-Arch: same$' "$info/new/control"; then
		name=$name:$(sed -n 's/^Architecture: //p' "$info/new/control")
	fi
	sed '/^Package:/a Status: install ok installed' "$info/new/control" >>"$root/var/lib/dpkg/status.new"
	echo >>"$root/var/lib/dpkg/status.new"
	dpkg-deb --fsys-tarfile "$deb" | tar -t | sed -e 's#^\./#/#' -e 's#\(.\)/$#\1#' >"$info/$name.list"
	[ ! -e "$info/new/md5sums" ] || mv "$info/new/md5sums" "$info/$name.md5sums"
done
rm -rf "$info/new"
[ -s "$root/var/lib/dpkg/status.new" ]
mv "$root/var/lib/dpkg/status.new" "$root/var/lib/dpkg/status"

# The accounts of base-passwd. www-data is 101, the user of ingress-nginx's image, so
# that its Deployments run with their securityContext. No file here may depend on their
# group, which is 82.
sed 's/^www-data:[^:]*:33:33:/www-data:x:101:101:/; s/^\([^:]*\):\*:/\1:x:/' "$root/usr/share/base-passwd/passwd.master" >"$root/etc/passwd"
sed 's/^www-data:[^:]*:33:/www-data:x:101:/; s/^\([^:]*\):\*:/\1:x:/' "$root/usr/share/base-passwd/group.master" >"$root/etc/group"
grep -q '^www-data:x:101:101:' "$root/etc/passwd"
grep -q '^www-data:x:101:' "$root/etc/group"

# The public authorities in one file, for nginx and Go.
mkdir -p "$root/etc/ssl/certs"
find "$root/usr/share/ca-certificates" -name '*.crt' | sort | xargs awk 1 >"$root/etc/ssl/certs/ca-certificates.crt"
grep -q 'BEGIN CERTIFICATE' "$root/etc/ssl/certs/ca-certificates.crt"

# The old names of /run: a pod finds its service account below /var/run.
rm -rf "$root/var/run" "$root/var/lock"
ln -s /run "$root/var/run"
ln -s /run/lock "$root/var/lock"

# A shell and a few tools for kubectl exec.
for tool in sh awk cat cp cut date df du env find free grep gunzip head hostname id kill less ls mkdir mount mv netstat nslookup \
	ping ps pwd rm sed sleep sort stat tail tar tee test top touch tr true uname uniq vi wc wget which xargs; do
	[ -e "$root/usr/bin/$tool" ] || [ -h "$root/usr/bin/$tool" ] || ln -s busybox "$root/usr/bin/$tool"
done

# Files for building, for other init systems and for installing packages. rootfs/pack
# leaves out those that mmdebstrap still needs.
find "$root/usr/lib" -name '*.a' -delete
rm -rf "$root"/usr/share/man "$root"/usr/share/info "$root"/usr/share/locale "$root"/usr/include "$root"/usr/share/perl5 "$root"/usr/share/lintian "$root"/usr/share/bug "$root"/usr/share/gcc \
	"$root"/usr/share/gdb "$root"/usr/share/vim "$root"/usr/share/bash-completion "$root"/usr/share/debconf "$root"/usr/lib/systemd \
	"$root"/usr/bin/debconf* "$root"/usr/sbin/dpkg-* "$root"/etc/init.d "$root"/etc/logrotate.d "$root"/etc/ufw "$root"/etc/cron.* \
	"$root"/etc/dpkg "$root"/etc/update-motd.d "${root:?}"/boot "${root:?}"/home
