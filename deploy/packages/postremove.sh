#!/bin/sh
# `apt purge` removes the state of the daemons and the secret too. The user hammr stays, without a
# password, as Debian advises: files elsewhere may belong to it.
set -e
if [ "$1" = purge ]; then
	rm -rf /var/lib/hammr /etc/hammr
fi
if [ -d /run/systemd/system ]; then
	systemctl daemon-reload
fi
