#!/usr/bin/env bash
# Prints the krew manifest for the archives in a folder.
#
#   krew.sh FOLDER VERSION DOWNLOADS HOMEPAGE
#
# VERSION is such as 1.2.3 or v1.2.3; what `git describe` says of a commit that has no tag becomes v0.0.0-g<that>, because krew
# wants a semantic version, which has no number such as 0123456 there. DOWNLOADS is the URL of the folder where the archives will be.
set -euo pipefail
[ $# -eq 4 ] || { echo "usage: krew.sh FOLDER VERSION DOWNLOADS HOMEPAGE" >&2; exit 2; }
folder="$1" version="${2#v}" downloads="${3%/}" homepage="$4"
[[ "$version" =~ ^[0-9]+\.[0-9]+\.[0-9]+ ]] || version="0.0.0-g$version"

# quoted writes a text as it is between the quotation marks of YAML.
quoted() {
  local text="${1//\\/\\\\}"
  printf '%s' "${text//\"/\\\"}"
}

# What is put in is quoted, or bash would take an & in it for what it replaces.
manifest="$(sed '/^#/d' "$(dirname "$0")/krew.yaml")"
manifest=${manifest//@VERSION@/"v$version"}
manifest=${manifest//@DOWNLOADS@/"$(quoted "$downloads")"}
manifest=${manifest//@HOMEPAGE@/"$(quoted "$homepage")"}
while [[ "$manifest" =~ @SHA256:([a-z0-9_.-]+)@ ]]; do
  archive="${BASH_REMATCH[1]}"
  [ -f "$folder/$archive" ] || { echo "krew.sh: there is no $folder/$archive" >&2; exit 1; }
  sum="$(sha256sum "$folder/$archive")"
  manifest="${manifest//@SHA256:$archive@/${sum%% *}}"
done
printf '%s\n' "$manifest"
