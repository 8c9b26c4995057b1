#!/bin/sh
# Makes the user and the directories. Nothing is started, and an upgrade restarts nothing: a cluster
# is upgraded one machine after the other.
set -e
if command -v systemd-sysusers >/dev/null; then
	systemd-sysusers hammr.conf
	systemd-tmpfiles --create hammr.conf || true # a container may forbid a part of it
fi
if [ -d /run/systemd/system ]; then
	systemctl daemon-reload
fi
