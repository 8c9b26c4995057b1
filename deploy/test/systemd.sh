#!/bin/bash
# Boots a Debian tree with systemd in a container and tries the package there as an administrator and
# a user would: systemd.sh DEB CACHE. It needs root, mmdebstrap and systemd-nspawn. The tree is made
# once, in CACHE; the container works on a copy that it does not keep.
set -euo pipefail

deb=$(realpath "$1")
cache=$2
here=$(cd "$(dirname "$0")" && pwd)
for tool in mmdebstrap systemd-nspawn nsenter; do
	command -v $tool >/dev/null || { echo "$tool is missing: apt-get install mmdebstrap systemd-container util-linux"; exit 1; }
done
((EUID == 0)) || { echo "only root boots a container"; exit 1; }

tree=$cache/bookworm
if [[ ! -e $tree/sbin/init ]]; then
	mkdir -p "$cache"
	rm -rf "$tree.new"
	mmdebstrap --quiet --variant=minbase --include=systemd,systemd-sysv,dbus,procps,adduser bookworm "$tree.new"
	mv "$tree.new" "$tree"
fi

work=$(mktemp -d /tmp/hammr-deploy.XXXXXX)
nspawn=
clean_up() {
	if [[ -n $nspawn ]] && kill -0 "$nspawn" 2>/dev/null; then
		kill -TERM "$nspawn" # it stops the container
		wait "$nspawn" || true
	fi
	umount "$work/root" "$work" 2>/dev/null || true
	rmdir "$work"
}
trap clean_up EXIT

mount -t tmpfs tmpfs "$work"
mkdir "$work"/{upper,work,root}
mount -t overlay -o "lowerdir=$tree,upperdir=$work/upper,workdir=$work/work" overlay "$work/root"
cp "$deb" "$work/root/root/hammr.deb"
cp "$here/systemd-inside.sh" "$work/root/root/inside.sh"
echo hammr-test >"$work/root/etc/hostname"

systemd-nspawn --quiet --boot --register=no --keep-unit --private-network --link-journal=no --machine=hammr-test \
	--directory="$work/root" --console=pipe </dev/null >"$work/console" 2>&1 &
nspawn=$!

# The first process of the container is the child of systemd-nspawn.
init=
for ((i = 0; i < 300; i++)); do
	init=$(pgrep -P "$nspawn" -x systemd || true)
	if [[ -n $init ]] && nsenter -t "$init" -a systemctl is-system-running 2>/dev/null | grep -Eq 'running|degraded'; then
		break
	fi
	kill -0 "$nspawn" 2>/dev/null || { cat "$work/console"; echo "the container does not boot here"; exit 1; }
	sleep 0.2
done
[[ -n $init ]] || { cat "$work/console"; echo "the container has no systemd after a minute"; exit 1; }
nsenter -t "$init" -a bash /root/inside.sh
