#!/bin/bash
# The part of systemd.sh that runs in the container. Each step prints a line; the last one counts.
set -uo pipefail
export PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C
passed=0 failed=0

# step NAME COMMAND… runs a step, and shows what it printed if it fails.
step() {
	local name=$1 out start=$SECONDS
	shift
	out=$("$@" 2>&1) # not as a condition, which would ignore set -e
	if (($? == 0)); then
		passed=$((passed + 1))
		printf 'ok    %s (%d s)\n' "$name" $((SECONDS - start))
		return
	fi
	failed=$((failed + 1))
	printf 'FAIL  %s\n%s\n' "$name" "$out"
	journalctl --no-pager -n 30 -u hammr-jobmaster -u hammr-tasknode
}

# await SECONDS COMMAND… repeats a command until it succeeds.
await() {
	local end=$((SECONDS + $1))
	shift
	until "$@"; do
		((SECONDS < end)) || { echo "in vain: $*"; return 1; }
		sleep 0.2
	done
}

pid_of() { systemctl show -P MainPID "$1"; }
is_new() { local pid; pid=$(pid_of "$1"); [[ $pid != 0 && $pid != "$2" ]] && systemctl -q is-active "$1"; }
as_alice() { runuser -u alice -- env HAMMR_MASTER=localhost HAMMR_TOKEN_FILE=/home/alice/token "$@"; }
node() { as_alice hammr node status hammr-test; }

install_package() {
	set -e
	dpkg -i /root/hammr.deb
	getent passwd hammr
	systemctl -q is-active hammr-jobmaster && return 1 # nothing is started
	ls /usr/share/man/man1/hammr-node-drain.1.gz
}

verify_units() {
	set -e
	systemd-analyze verify /lib/systemd/system/hammr-{jobmaster,tasknode}.service
	systemd-analyze security --no-pager --threshold=30 hammr-jobmaster.service
}

configure() {
	set -e
	head -c 32 /dev/urandom | base64 >/etc/hammr/token
	systemd-tmpfiles --create hammr.conf
	[[ $(stat -c '%U %a' /etc/hammr/token) == "hammr 600" ]]
	useradd --create-home alice
	install -o alice -m 600 /etc/hammr/token /home/alice/token
	# A directory of this machine is the file system of the cluster.
	install -d -m 1777 /srv/shared /srv/shared/staging
	echo "staging: file:///srv/shared/staging" >>/etc/hammr/jobmaster.yaml
	mkdir -p /etc/systemd/system/hammr-{jobmaster,tasknode}.service.d
	printf '[Service]\nReadWritePaths=/srv/shared\nWatchdogSec=6s\n' >/etc/systemd/system/hammr-jobmaster.service.d/test.conf
	printf '[Service]\nWatchdogSec=6s\n' >/etc/systemd/system/hammr-tasknode.service.d/test.conf
	systemctl daemon-reload
}

start_daemons() {
	timeout 60 systemctl start hammr-jobmaster hammr-tasknode && systemctl is-active hammr-jobmaster hammr-tasknode &&
		[[ $(systemctl show -P StatusText hammr-jobmaster) == leads* ]] && await 10 eval 'node | grep -q "Map-Slots : 0/2 used"'
}

job_of_a_user() {
	set -e
	seq 1 20000 >/srv/shared/numbers
	rm -rf /srv/shared/out /srv/shared/want
	as_alice hammr run wordcount --quiet /srv/shared/numbers /srv/shared/out
	runuser -u alice -- hammr run wordcount --quiet /srv/shared/numbers /srv/shared/want
	cmp /srv/shared/out/part-r-00000 /srv/shared/want/part-r-00000
	[[ $(stat -c %U /srv/shared/out/part-r-00000) == alice ]]
}

reload() {
	set -e
	local pid
	pid=$(pid_of hammr-tasknode)
	sed -i 's/^map-slots: 2/map-slots: 5/' /etc/hammr/tasknode.yaml
	systemctl reload hammr-tasknode hammr-jobmaster
	await 10 eval 'node | grep -q "Map-Slots : 0/5 used"'
	[[ $(pid_of hammr-tasknode) == "$pid" ]]
	journalctl -u hammr-tasknode | grep -q 'call=Reload object=map-slots from=2 to=5 result=done'
}

killed() { local pid; pid=$(pid_of "$1"); kill -9 "$pid" && await 30 is_new "$1" "$pid"; }

stopped() {
	local pid
	pid=$(pid_of "$1")
	kill -STOP "$pid" && await 60 is_new "$1" "$pid" && journalctl -u "$1" | grep -qi 'watchdog timeout'
}

# A second tasknode takes the work of the first one while that restarts.
restart_during_a_job() {
	set -e
	systemd-run -q --unit=second hammr tasknode --name second --own-user --masters localhost --dir /var/tmp/second --token-file /etc/hammr/token \
		--address 127.0.0.1:7171 --http 127.0.0.1:7181
	await 20 eval 'as_alice hammr node status second | grep -q RUNNING'
	rm -rf /srv/shared/slow
	local id pid
	id=$(as_alice hammr submit wordcount -D hammr.debug.record.sleep=1 -D mapreduce.input.fileinputformat.split.maxsize=20000 /srv/shared/numbers /srv/shared/slow)
	await 20 eval 'node | grep -q "Map-Slots : [1-9]/5 used"'
	pid=$(pid_of hammr-tasknode)
	systemctl restart hammr-tasknode
	is_new hammr-tasknode "$pid"
	journalctl -u hammr-tasknode | grep -q 'Drained node hammr-test'
	await 10 eval 'node | grep -q "Node-State : RUNNING"'
	as_alice hammr job wait "$id" --quiet
	cmp /srv/shared/slow/part-r-00000 /srv/shared/want/part-r-00000
	as_alice hammr job status "$id" --json >/root/job.json
	grep -Eq '"state": "(KILLED|FAILED)"' /root/job.json && return 1
	systemctl stop second
}

upgrade() {
	set -e
	local pid
	pid=$(pid_of hammr-jobmaster)
	dpkg -i /root/hammr.deb
	grep -q 'map-slots: 5' /etc/hammr/tasknode.yaml # a changed file stays
	[[ $(pid_of hammr-jobmaster) == "$pid" ]]       # nothing restarts by itself
	systemctl restart hammr-jobmaster hammr-tasknode
	as_alice hammr node list
}

purge() {
	set -e
	dpkg -P hammr
	rm -rf /etc/systemd/system/hammr-*.d
	systemctl daemon-reload
	systemctl -q is-active hammr-jobmaster && return 1
	systemctl -q is-active hammr-tasknode && return 1
	pgrep -x hammr && return 1
	local left
	left=$(find / -xdev \( -path /proc -o -path /sys -o -path /run/log -o -path /var/log \) -prune -o -name '*hammr*' ! -name hammr.deb -print)
	[[ -z $left ]] || { echo "left: $left"; return 1; }
}

step "install" install_package
step "units are right" verify_units
step "configure" configure
step "start" start_daemons
step "job of an ordinary user" job_of_a_user
step "reload" reload
step "kill -9 of the tasknode" killed hammr-tasknode
step "kill -9 of the jobmaster" killed hammr-jobmaster
step "watchdog of the tasknode" stopped hammr-tasknode
step "watchdog of the jobmaster" stopped hammr-jobmaster
step "job after that" job_of_a_user
step "restart during a job" restart_during_a_job
step "upgrade" upgrade
step "purge" purge
printf '%d passed, %d failed\n' $passed $failed
((failed == 0))
