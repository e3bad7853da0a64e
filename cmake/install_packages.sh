#!/bin/bash
# install_packages.sh KIND...: installs the packages that cmake/packages.txt lists for these kinds and that are missing,
# and says which. Silent when nothing is missing. All of its output goes to stderr.
set -u
list=$(dirname "${BASH_SOURCE[0]}")/packages.txt

wanted=()
while read -r kind package _; do
  for asked in "$@"; do [[ $kind == "$asked" ]] && wanted+=("$package"); done
done < "$list"

if ! command -v dpkg-query > /dev/null; then
  echo "kgen: this is not a Debian system; needed are the equivalents of: ${wanted[*]}" >&2
  exit 0 # the build says what it cannot find
fi

installed=" $(dpkg-query -W -f '${db:Status-Status}:${Package} ' "${wanted[@]}" 2> /dev/null)"
missing=()
for package in "${wanted[@]}"; do
  [[ $installed == *" installed:$package "* ]] && continue
  [[ $package == python3-numpy ]] && python3 -c 'import numpy' 2> /dev/null && continue
  missing+=("$package")
done
((${#missing[@]} == 0)) && exit 0

echo "kgen: installing ${#missing[@]} missing packages: ${missing[*]}" >&2
as_root=()
if ((EUID != 0)); then
  if ! command -v sudo > /dev/null; then
    echo "kgen: this needs root; run: apt-get install ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
fi
apt() { "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -o Dpkg::Use-Pty=0 "$@" >&2; }
install() { apt install -y --no-install-recommends "${missing[@]}"; }

# Lists may be absent (a fresh image) or old; an update is worth its seconds only then.
if ! compgen -G '/var/lib/apt/lists/*_Packages*' > /dev/null; then apt update || exit 1; fi
install && exit 0
echo "kgen: trying again with fresh package lists" >&2
apt update && install
