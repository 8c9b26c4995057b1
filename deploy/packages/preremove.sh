#!/bin/sh
# Stops the daemons before their program is removed, but not before an upgrade. Debian's dpkg calls
# it with the word remove, rpm with the number of packages that remain.
set -e
case "$1" in
remove | 0)
	if [ -d /run/systemd/system ]; then
		systemctl disable --now hammr-tasknode.service hammr-jobmaster.service
	fi
	;;
esac
