# Functions of all scripts that run on a machine of a cluster, for a POSIX shell
# on Linux. Before them come the variables
#   dir    directory of the cluster on this machine; "" for the default
#   units  yes if units of systemd run the daemons, no if not, "" if unknown
#   host   name of this machine in the hostfile
#   id     id of the cluster
#   conf   value of HADOOP_CONF_DIR of the daemons; "" for none
# and after them the call of one function. A function prints lines KEY=VALUE; it
# ends with exit code 1 and a message if it fails.
set -u
export LC_ALL=C
umask 022
# A script that stops and starts a daemon does both, also if its connection is lost
# between them.
trap '' PIPE

# unit_setting NAME prints the last value of a setting in the units.
unit_setting() { printf '%s\n' "$unit_files" | sed -n "s/^$1=\(..*\)/\1/p" | tail -n 1; }

# The package of Hammr has units for systemd, which run the daemons unless the
# hostfile names a directory.
if [ "$units" = yes ] || [ -z "$dir$units" ]; then
	units=no
	if [ "$(id -u)" = 0 ] && unit_files=$(systemctl cat hammr-jobmaster.service hammr-tasknode.service 2>/dev/null); then
		units=yes
		program=$(unit_setting ExecStart)
		etc=$(dirname "${program##* }")
		program=${program%% *}
		dir=/var/lib/$(dirname "$(unit_setting StateDirectory)")
	fi
fi
if [ "$units" != yes ]; then
	units=no
	if [ -z "$dir" ]; then
		if [ "$(id -u)" = 0 ]; then dir=/var/lib/hammr-cluster; else dir=/var/tmp/hammr-$(id -un); fi
	fi
	program=$dir/bin/hammr
	etc=$dir
fi

say() { printf '%s=%s\n' "$1" "$2"; }

fail() {
	printf '%s\n' "$*" >&2
	exit 1
}

hash_of() { sha256sum 2>/dev/null <"$1" | cut -c 1-64; }

# by_systemd ROLE succeeds if a unit runs a daemon. Those of Hadoop have none.
by_systemd() { [ $units = yes ] && is_hammr "$1"; }

# is_hammr ROLE succeeds for the daemons of Hammr.
is_hammr() { [ "$1" = jobmaster ] || [ "$1" = tasknode ]; }

# runs PID succeeds if a process runs. One that has ended and is not waited for does
# not.
runs() { grep -qs '^State:.[^ZX]' "/proc/$1/status"; }

# pid_of ROLE prints the process of a daemon of this directory, and fails if there
# is none. Process ids are reused, so the command line is compared. It is empty for
# a moment when a process begins a program; then it is read again.
pid_of() {
	if by_systemd "$1"; then
		pid=$(systemctl show -p MainPID --value "hammr-$1")
		[ "${pid:-0}" != 0 ] && printf '%s\n' "$pid"
		return
	fi
	pid=$(cat "$dir/$1.pid" 2>/dev/null) || return 1
	case $pid in '' | *[!0-9]*) return 1 ;; esac
	reads=100
	while [ $reads -gt 0 ] && runs "$pid"; do
		words=$(tr '\0' '\n' 2>/dev/null <"/proc/$pid/cmdline")
		if [ -n "$words" ]; then
			printf '%s\n' "$words" | grep -qxF -e "$etc/$1.yaml" -e "-Dhammr=$dir/$1" && printf '%s\n' "$pid"
			return
		fi
		reads=$((reads - 1))
		sleep 0.02
	done
	return 1
}

# locked CALL... calls a function while no other script on this machine does so for
# this directory.
locked() { (flock 9 && "$@") 9>"$dir/lock" || exit 1; }

# is_ready ROLE succeeds if a daemon is ready. systemd knows it from the daemon.
is_ready() {
	if by_systemd "$1"; then
		systemctl is-active --quiet "hammr-$1"
	else
		case $1 in
		namenode) grep -qs 'NameNode RPC up at' "$dir/namenode.log" ;;
		datanode) grep -qs 'successfully registered with NN' "$dir/datanode.log" ;;
		resourcemanager) grep -qs 'Transitioned to active state' "$dir/resourcemanager.log" ;;
		nodemanager) grep -qs 'Registered with ResourceManager' "$dir/nodemanager.log" ;;
		*) [ -e "$dir/$1.ready" ] ;;
		esac
	fi
}

# owned succeeds if the directory is of this user, and a link to it is of this user or
# of root. In /var/tmp another user may have made either first.
owned() {
	case $(stat -c %u "$dir") in 0 | "$(id -u)") ;; *) return 1 ;; esac
	[ -O "$dir" ] && [ -d "$dir" ]
}

# survey describes this machine and changes nothing. The completed hostfile comes
# last, since it has lines of its own.
survey() {
	say os "$(uname -s)"
	say arch "$(uname -m)"
	say user "$(id -un)"
	say cpus "$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1)"
	say memory "$(awk '/^MemTotal:/ { print int($2 / 1024) }' /proc/meminfo)"
	say dir "$dir"
	say units $units
	say etc "$etc"
	command -v java >/dev/null && say java yes
	for tool in sha256sum gzip setsid flock; do
		command -v $tool >/dev/null || say missing $tool
	done
	program_hash=
	program_version=
	[ -e "$program" ] && program_hash=$(hash_of "$program") && say program "$program_hash"
	parent=$dir
	while [ ! -e "$parent" ]; do parent=$(dirname "$parent"); done
	say free "$(df -Pk "$parent" | awk 'NR == 2 { print $4 }')"
	for set in jars yarn-jars; do
		[ -e "$dir/hadoop/$set.id" ] && say $set "$(cat "$dir/hadoop/$set.id")"
	done
	if [ ! -e "$dir" ]; then
		[ -w "$parent" ] && say state absent || say state "not writable"
		return
	elif ! owned; then
		say state "not owned"
		return
	elif [ ! -e "$dir/cluster" ]; then
		# A copy of the program that was interrupted leaves bin, an experiment also HDFS.
		others=$(ls -A "$dir" | grep -vx -e bin -e lock -e host -e experiment -e faults -e hadoop -e namenode.log -e datanode.log -e resourcemanager.log -e nodemanager.log | head -n 1)
		[ -z "$others" ] && say state absent || say state foreign
		say machine "$(cat "$dir/host" 2>/dev/null)"
		return
	fi
	say state cluster
	say cluster "$(cat "$dir/cluster")"
	say machine "$(cat "$dir/host" 2>/dev/null)"
	[ -e "$etc/token" ] && say token "$(hash_of "$etc/token")"
	[ -e "$dir/upgrading" ] && say upgrading true
	for role in namenode datanode resourcemanager nodemanager jobmaster tasknode; do survey_daemon $role; done
	say suspended "$(tr '\n' ' ' 2>/dev/null <"$dir/suspended")"
	say hosts "$(wc -l 2>/dev/null <"$dir/hosts" || echo 0)"
	# An experiment does not keep the roles of one that was interrupted.
	[ -e "$dir/experiment" ] || cat "$dir/hosts" 2>/dev/null
	return 0
}

# version_of PROGRAM prints the line with its version.
version_of() { "$1" version 2>/dev/null | head -n 1; }

# say_program ROLE describes the program that a daemon runs, which is /proc/PID/exe
# even if the file was replaced. Most often it is $program, which is read only once:
# it is large, and all machines may be one.
say_program() {
	if [ -n "$program_hash" ] && [ "/proc/$pid/exe" -ef "$program" ]; then
		[ -n "$program_version" ] || program_version=$(version_of "$program")
		say "$1.program" "$program_hash"
		say "$1.version" "$program_version"
	else
		say "$1.program" "$(hash_of "/proc/$pid/exe")"
		say "$1.version" "$(version_of "/proc/$pid/exe")"
	fi
}

# survey_daemon ROLE describes a daemon.
survey_daemon() {
	[ -e "$etc/$1.yaml" ] || [ -e "$dir/$1.log" ] || return 0
	if pid=$(pid_of "$1"); then
		is_ready "$1" && say "$1.state" running || say "$1.state" starting
		say "$1.pid" "$pid"
		! is_hammr "$1" || say_program "$1"
	else
		say "$1.state" stopped
	fi
}

# create FILE TEXT makes a file with a line, unless there is one already. On a full
# disk it makes none, and no empty one.
create() {
	[ -s "$1" ] && return
	[ ! -e "$1" ] || [ -s "$1" ] || rm -f "$1"
	printf '%s\n' "$2" | cat >"$1.$$" && ln "$1.$$" "$1" 2>/dev/null
	rm -f "$1.$$"
	[ -s "$1" ] || fail "cannot write $1"
}

# prepare makes the directory for one cluster and one machine. Since the survey
# another user may have made it.
prepare() {
	mkdir -p "$dir" || fail "cannot make $dir"
	owned || fail "$dir belongs to another user, or is a link of another user; choose another directory with dir="
	# Tasks of other users reach their files in it.
	chmod 711 "$dir" || fail "cannot set the mode of $dir"
	create "$dir/host" "$host"
	if [ "$(cat "$dir/host")" != "$host" ]; then
		fail "$dir is also the directory of $(cat "$dir/host"); give each machine its own, as with dir=/data/{host}"
	fi
}

# receive HASH stores the program, which comes compressed on standard input.
receive() {
	prepare
	locked store_program "$1"
}

store_program() {
	mkdir -p "$dir/bin" || fail "cannot make $dir/bin"
	if gzip -dc >"$dir/bin/new" && chmod 755 "$dir/bin/new" && [ "$(hash_of "$dir/bin/new")" = "$1" ]; then
		mv -f "$dir/bin/new" "$dir/bin/hammr" && return
	fi
	rm -f "$dir/bin/new"
	fail "the program did not arrive in $dir/bin"
}

# receive_jars SET HASH stores a set of Hadoop's jars, which come as an archive on
# standard input.
receive_jars() {
	prepare
	locked store_jars "$@"
}

store_jars() {
	mkdir -p "$dir/hadoop/new" || fail "cannot make $dir/hadoop/new"
	if gzip -dc >"$dir/hadoop/new.tar" && [ "$(hash_of "$dir/hadoop/new.tar")" = "$2" ] && tar -xf "$dir/hadoop/new.tar" -C "$dir/hadoop/new"; then
		rm -rf "$dir/hadoop/$1" "$dir/hadoop/new.tar"
		mv "$dir/hadoop/new" "$dir/hadoop/$1" && printf '%s\n' "$2" >"$dir/hadoop/$1.id" && return
	fi
	rm -rf "$dir/hadoop/new.tar" "$dir/hadoop/new"
	fail "Hadoop's jars did not arrive in $dir/hadoop"
}

# make_conf makes the configuration directory of Hadoop. The jars lack the web pages
# of HDFS; HTTP works with empty directories.
make_conf() {
	for page in hdfs datanode static; do
		mkdir -p "$conf/webapps/$page" || fail "cannot make $conf"
	done
	mkdir -p "$dir/hadoop/tmp" || fail "cannot make $dir/hadoop/tmp"
}

# share DIRECTORY NAME makes an empty file in the directory, or in the nearest one
# above it that exists, and prints its path. It prints nothing where this user may
# not write.
share() {
	at=$1
	while [ ! -d "$at" ]; do at=$(dirname "$at"); done
	(set -C && : >"${at%/}/$2") 2>/dev/null && say shared "${at%/}/$2"
	return 0
}

# put FILE MODE stores standard input.
put() { locked store_file "$1" "$2"; }

store_file() {
	if ! (umask 077 && cat >"$1.new") || ! chmod "$2" "$1.new" || ! mv -f "$1.new" "$1"; then
		rm -f "$1.new"
		fail "cannot write $1"
	fi
}

# own_token gives the token to the user of the jobmaster; the tasknode is of root.
own_token() {
	[ $units = no ] || chown "$(systemctl show -p User --value hammr-jobmaster)" "$etc/token"
}

# claim makes this the directory of the cluster, unless it is another's.
claim() {
	prepare
	create "$dir/cluster" "$id"
	if [ "$(cat "$dir/cluster")" != "$id" ]; then
		fail "$dir belongs to the cluster $(cat "$dir/cluster"); choose another directory with dir=, or remove this one"
	fi
}

# own_experiment makes this a directory for the clusters of experiments, one after the
# other, unless it has another cluster.
own_experiment() {
	[ ! -e "$dir/cluster" ] || [ -e "$dir/experiment" ] || fail "$dir has a cluster that is not an experiment's; choose another directory with dir="
	prepare
	create "$dir/experiment" "clusters of experiments, which are removed"
}

# clear_experiment removes the cluster of an experiment. The program and the data of HDFS
# stay.
clear_experiment() {
	[ -e "$dir/experiment" ] || fail "$dir has a cluster that is not an experiment's"
	rm -rf "$dir/jobmaster" "$dir/tasknode" "$dir/hadoop/nodemanager" "$dir"/*.yaml "$dir"/*.log "$dir"/*.err "$dir"/*.pid "$dir"/*.ready
	rm -f "$dir/cluster" "$dir/token" "$dir/hosts" "$dir/upgrading" "$dir/suspended"
}

# launch ROLE starts a daemon that does not run.
launch() {
	if by_systemd "$1"; then
		pid_of "$1" >/dev/null && return
		systemctl enable --quiet "hammr-$1" && systemctl start --no-block "hammr-$1" || fail "systemd does not start hammr-$1"
		return
	fi
	locked spawn "$1" "$dir/$1.err" "$program" "$1" --config "$etc/$1.yaml"
}

# launch_hadoop JARS ROLE CLASS FLAGS... starts a daemon of Hadoop that does not run.
launch_hadoop() { locked spawn_hadoop "$@"; }

# spawn_hadoop is launch_hadoop while it is locked. A new NameNode is formatted first.
# A NodeManager gives the variables to the scripts that start its containers.
spawn_hadoop() {
	role=$2
	class=$3
	export HADOOP_YARN_HOME="$dir/hadoop/$1"
	shift 3
	pid_of "$role" >/dev/null && return
	java=$(readlink -f "$(command -v java)")
	export JAVA_HOME="${java%/bin/java}"
	set -- "$java" "$@" -Xmx512m "-Dhammr=$dir/$role" "-Djava.io.tmpdir=$dir/hadoop/tmp" -cp "$conf:$HADOOP_YARN_HOME/*" "$class"
	if [ "$role" = namenode ] && [ ! -d "$dir/hadoop/namenode/current" ]; then
		"$@" -format -nonInteractive </dev/null >"$dir/namenode.log" 2>&1 || fail "the NameNode is not formatted: $(excerpt namenode)"
	fi
	spawn "$role" "$dir/$role.log" "$@"
}

# spawn ROLE OUTPUT COMMAND... starts a daemon in a session of its own, unless it
# runs. At its end pid_of knows the process, or the process has ended. SIGHUP is
# ignored until the daemon asks for it: programs that cannot reload are not ended
# by it.
spawn() {
	role=$1
	output=$2
	shift 2
	pid_of "$role" >/dev/null && return
	rm -f "$dir/$role.ready"
	[ -z "$conf" ] || export HADOOP_CONF_DIR="$conf"
	(
		trap '' HUP
		trap - PIPE
		cd "$dir" && exec setsid "$@"
	) </dev/null >"$output" 2>&1 9>&- &
	child=$!
	printf '%s\n' "$child" >"$dir/$role.pid"
	until pid_of "$role" >/dev/null || ! runs "$child"; do sleep 0.02; done
	say launched "$role"
}

# await ROLE SECONDS waits until a daemon is ready. A daemon that has ended is not
# waited for.
await() {
	deadline=$(($(date +%s) + $2))
	while by_systemd "$1" || pid_of "$1" >/dev/null; do
		is_ready "$1" && return
		[ "$(date +%s)" -lt $deadline ] || fail "the $1 is not ready after $2 s; the end of $(excerpt "$1")"
		sleep 0.1
	done
	fail "the $1 has ended; the end of $(excerpt "$1")"
}

# excerpt ROLE prints where the log of a daemon is, and its end.
excerpt() {
	if by_systemd "$1"; then
		printf 'its journal: '
		journalctl --quiet --no-pager --output cat --lines 6 --unit "hammr-$1"
		return
	fi
	printf '%s/%s.log and .err: ' "$dir" "$1"
	for file in "$dir/$1.log" "$dir/$1.err"; do
		[ -s "$file" ] && tail -n 6 "$file" | cut -c 1-600
	done
}

# logs ROLE prints the log of a daemon.
logs() {
	if by_systemd "$1"; then
		journalctl --quiet --no-pager --output cat --boot --unit "hammr-$1"
	else
		cat "$dir/$1.log" "$dir/$1.err" 2>/dev/null || [ -e "$dir/$1.log" ] # Hadoop has no other output
	fi
}

# halt ROLE SECONDS ends a daemon. It is killed if it does not end in time. A unit
# would drain its tasknode first, for nothing: before an upgrade it is drained, and
# when all tasknodes stop there is none left to drain to. So the process is ended:
# systemd then runs no ExecStop.
halt() {
	if by_systemd "$1"; then
		systemctl disable --quiet "hammr-$1"
	else
		[ ! -e "$dir/lock" ] || locked true # a start in progress comes to its end
	fi
	if pid=$(pid_of "$1"); then
		kill -TERM "$pid" 2>/dev/null
		tries=$(($2 * 20))
		while [ "$(pid_of "$1")" = "$pid" ]; do
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
	[ "$1" != nodemanager ] || kill_containers
	if by_systemd "$1"; then
		systemctl stop "hammr-$1" || fail "systemd does not stop hammr-$1"
		return
	fi
	rm -f "$dir/$1.pid" "$dir/$1.ready"
	remove_cgroup "$dir/$1"
}

# kill_containers ends what a NodeManager has started and has not ended, as it was
# killed. A container works in a directory of the NodeManager.
kill_containers() {
	files=$(readlink -f "$dir/hadoop/nodemanager") || return 0
	left=yes
	while [ $left ]; do
		left=
		for proc in /proc/[0-9]*; do
			case $(readlink "$proc/cwd") in "$files"/*) kill -KILL "${proc#/proc/}" 2>/dev/null && left=yes ;; esac
		done
	done
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
	if by_systemd "$1"; then
		systemctl reload "hammr-$1" || fail "systemd does not reload hammr-$1"
		return
	fi
	ignored=$(awk '/^SigIgn:/ { print $2 }' "/proc/$pid/status")
	case $ignored in
	*[13579bdf]) fail "the $1 does not reload its settings; restart it, or upgrade it" ;;
	esac
	kill -HUP "$pid" || fail "cannot signal the $1"
	say reloaded "$1"
}

# guard WORDS... runs a command of the guard of faults. A guard that holds a fault
# runs on after this script.
guard() { "$program" chaos guard "$@" --dir "$dir" </dev/null || exit 1; }

# examine ADDRESSES prints what hammr doctor finds on this machine, as JSON. Its
# exit code is 1 if there is a fault.
examine() {
	[ -z "$conf" ] || export HADOOP_CONF_DIR="$conf"
	set -- ${1:+--reach "$1"}
	for role in jobmaster tasknode; do
		[ ! -e "$etc/$role.yaml" ] || set -- "$@" --config "$etc/$role.yaml"
	done
	"$program" doctor --json "$@" || [ $? = 1 ]
}
