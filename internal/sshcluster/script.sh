# Functions of all scripts that run on a machine of a cluster, for a POSIX shell
# on Linux. Before them come the variables
#   dir   directory of the cluster on this machine; "" for the default
#   host  name of this machine in the hostfile
#   id    id of the cluster
#   conf  value of HADOOP_CONF_DIR of the daemons; "" for none
# and after them the call of one function. A function prints lines KEY=VALUE; it
# ends with exit code 1 and a message if it fails.
set -u
export LC_ALL=C
umask 022

if [ -z "$dir" ]; then
	if [ "$(id -u)" = 0 ]; then dir=/var/lib/hammr-cluster; else dir=/var/tmp/hammr-$(id -un); fi
fi

say() { printf '%s=%s\n' "$1" "$2"; }

fail() {
	printf '%s\n' "$*" >&2
	exit 1
}

hash_of() { sha256sum <"$1" 2>/dev/null | cut -c 1-64; }

# pid_of ROLE prints the process of a daemon of this directory, and fails if there
# is none. Process ids are reused, so the command line is compared.
pid_of() {
	pid=$(cat "$dir/$1.pid" 2>/dev/null) || return 1
	case $pid in '' | *[!0-9]*) return 1 ;; esac
	tr '\0' '\n' <"/proc/$pid/cmdline" 2>/dev/null | grep -qxF -- "$dir/$1.yaml" || return 1
	grep -qs '^State:.[^ZX]' "/proc/$pid/status" && printf '%s\n' "$pid"
}

# survey describes this machine and changes nothing. The completed hostfile comes
# last, since it has lines of its own.
survey() {
	say os "$(uname -s)"
	say arch "$(uname -m)"
	say user "$(id -un)"
	say cpus "$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1)"
	say dir "$dir"
	for tool in sha256sum gzip setsid; do
		command -v $tool >/dev/null || say missing $tool
	done
	parent=$dir
	while [ ! -e "$parent" ]; do parent=$(dirname "$parent"); done
	say free "$(df -Pk "$parent" | awk 'NR == 2 { print $4 }')"
	if [ ! -e "$dir" ]; then
		[ -w "$parent" ] && say state absent || say state "not writable"
		return
	elif [ ! -O "$dir" ] || [ ! -d "$dir" ]; then
		say state "not owned"
		return
	elif [ ! -e "$dir/cluster" ]; then
		# A copy of the program that was interrupted leaves bin.
		others=$(ls -A "$dir" | grep -vx -e bin -e lock -e host | head -n 1)
		[ -z "$others" ] && say state absent || say state foreign
		say machine "$(cat "$dir/host" 2>/dev/null)"
		return
	fi
	say state cluster
	say cluster "$(cat "$dir/cluster")"
	say machine "$(cat "$dir/host" 2>/dev/null)"
	[ -e "$dir/bin/hammr" ] && say program "$(hash_of "$dir/bin/hammr")"
	[ -e "$dir/token" ] && say token "$(hash_of "$dir/token")"
	[ -e "$dir/upgrading" ] && say upgrading true
	for role in jobmaster tasknode; do survey_daemon $role; done
	say suspended "$(tr '\n' ' ' <"$dir/suspended" 2>/dev/null)"
	say hosts "$(wc -l <"$dir/hosts" 2>/dev/null || echo 0)"
	cat "$dir/hosts" 2>/dev/null
	return 0
}

# survey_daemon ROLE describes a daemon. /proc/PID/exe is the program that runs,
# even if the file was replaced.
survey_daemon() {
	[ -e "$dir/$1.yaml" ] || return 0
	if pid=$(pid_of "$1"); then
		[ -e "$dir/$1.ready" ] && say "$1.state" running || say "$1.state" starting
		say "$1.pid" "$pid"
		say "$1.program" "$(hash_of "/proc/$pid/exe")"
		say "$1.version" "$("/proc/$pid/exe" version 2>/dev/null | head -n 1)"
	else
		say "$1.state" stopped
	fi
}

# prepare makes the directory for one cluster and one machine.
prepare() {
	mkdir -p "$dir/bin" || fail "cannot make $dir/bin"
	chmod 711 "$dir" # tasks of other users reach their files in it
	if ! (set -C && printf '%s\n' "$host" >"$dir/host") 2>/dev/null && [ "$(cat "$dir/host")" != "$host" ]; then
		fail "$dir is also the directory of $(cat "$dir/host"); give each machine its own, as with dir=/data/{host}"
	fi
}

# receive HASH stores the program, which comes compressed on standard input.
receive() {
	prepare
	if gzip -dc >"$dir/bin/new" && chmod 755 "$dir/bin/new" && [ "$(hash_of "$dir/bin/new")" = "$1" ]; then
		mv -f "$dir/bin/new" "$dir/bin/hammr" && return
	fi
	rm -f "$dir/bin/new"
	fail "the program did not arrive in $dir/bin"
}

# put FILE MODE stores standard input.
put() {
	if ! (umask 077 && cat >"$dir/$1.new") || ! chmod "$2" "$dir/$1.new" || ! mv -f "$dir/$1.new" "$dir/$1"; then
		rm -f "$dir/$1.new"
		fail "cannot write $dir/$1"
	fi
}

# claim makes this the directory of the cluster, unless it is another's.
claim() {
	prepare
	if ! (set -C && printf '%s\n' "$id" >"$dir/cluster") 2>/dev/null && [ "$(cat "$dir/cluster")" != "$id" ]; then
		fail "$dir belongs to the cluster $(cat "$dir/cluster"); choose another directory with dir=, or remove this one"
	fi
}

# launch ROLE starts a daemon that does not run. SIGHUP is ignored until the
# daemon asks for it: programs that cannot reload are not ended by it.
launch() {
	pid_of "$1" >/dev/null && return
	rm -f "$dir/$1.pid" "$dir/$1.ready"
	[ -z "$conf" ] || export HADOOP_CONF_DIR="$conf"
	(
		trap '' HUP
		cd "$dir" && exec setsid sh -c 'echo $$ >"$0.new" && mv "$0.new" "$0.pid" && exec "$@"' "$dir/$1" "$dir/bin/hammr" "$1" --config "$dir/$1.yaml"
	) </dev/null >"$dir/$1.err" 2>&1 &
	say launched "$1"
}

# await ROLE SECONDS waits until a daemon is ready. A daemon that has ended is not
# waited for. A process that just starts its program may have no command line for
# a moment, so one look is not enough.
await() {
	tries=$(($2 * 20))
	gone=0
	while [ ! -e "$dir/$1.ready" ]; do
		if [ -e "$dir/$1.pid" ] && ! pid_of "$1" >/dev/null; then gone=$((gone + 1)); else gone=0; fi
		[ $gone -lt 4 ] || fail "the $1 has ended; the end of $dir/$1.log and .err: $(excerpt "$1")"
		[ $tries -gt 0 ] || fail "the $1 is not ready after $2 s; the end of $dir/$1.log and .err: $(excerpt "$1")"
		tries=$((tries - 1))
		sleep 0.05
	done
}

excerpt() {
	for file in "$dir/$1.log" "$dir/$1.err"; do
		[ -s "$file" ] && tail -n 6 "$file" | cut -c 1-600
	done
}

# halt ROLE SECONDS ends a daemon. It is killed if it does not end in time.
halt() {
	if pid=$(pid_of "$1"); then
		kill -TERM "$pid" 2>/dev/null
		tries=$(($2 * 20))
		while pid_of "$1" >/dev/null; do
			if [ $tries -le 0 ]; then
				kill -KILL "$pid" 2>/dev/null
				say killed "$1"
				tries=100
			fi
			tries=$((tries - 1))
			sleep 0.05
		done
		say halted "$1"
	fi
	rm -f "$dir/$1.pid" "$dir/$1.ready"
	remove_cgroup "$dir/$1"
}

# remove_cgroup DIRECTORY removes the control group that a tasknode which was
# killed has left. Its name is that of the directory's tasknode.
remove_cgroup() {
	group=$(cat "$1/cgroup" 2>/dev/null) || return 0
	case $group in */hammr-????????????????) ;; *) return 0 ;; esac
	[ -d "$group" ] && find "$group" -depth -type d -exec rmdir {} + 2>/dev/null
	[ -d "$group" ] || rm -f "$1/cgroup"
}

# reload ROLE orders a daemon to read its settings again.
reload() {
	pid=$(pid_of "$1") || return 0
	ignored=$(awk '/^SigIgn:/ { print $2 }' "/proc/$pid/status")
	case $ignored in
	*[13579bdf]) fail "the $1 does not reload its settings; restart it, or upgrade it" ;;
	esac
	kill -HUP "$pid" || fail "cannot signal the $1"
	say reloaded "$1"
}
