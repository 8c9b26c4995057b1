# Sets up an OAR with three nodes, which are this machine, in a mount namespace and a UTS namespace of its own, and ends it
# when its input ends.
#
#   oar.sh DIR POSTGRES_PORT SERVER_PORT SSH_PORT USER
#
# The configuration is Debian's, with these differences: a database of its own, no cpusets (the manager of job resources does
# nothing), and nodes that always count as alive.
set -e
D=$1 PG=$2 SRV=$3 SSH=$4 USER=$5
B=$(ls -d /usr/lib/postgresql/*/bin | tail -n 1)

set_conf() { # NAME VALUE ...
	while [ $# -gt 0 ]; do
		sed -i "/^$1=/d" "$D/oar.conf"
		printf '%s="%s"\n' "$1" "$2" >>"$D/oar.conf"
		shift 2
	done
}

mkdir "$D/pg" "$D/runtime" "$D/home" "$D/home/.ssh"
chown postgres "$D/pg"
chown oar "$D/runtime"

cp /etc/oar/oar.conf "$D/oar.conf"
set_conf DB_PORT "$PG" DB_BASE_PASSWD oar DB_BASE_PASSWD_RO oar SERVER_HOSTNAME ctl SERVER_PORT "$SRV" \
	LOG_LEVEL 2 LOG_FILE "$D/runtime/oar.log" OAR_RUNTIME_DIRECTORY "$D/runtime" \
	OPENSSH_CMD "/usr/bin/ssh -p $SSH -e none -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR" \
	FINAUD_FREQUENCY 0 SCHEDULER_JOB_SECURITY_TIME 1 JOB_RESOURCE_MANAGER_FILE "$D/manager.pl"
sed -i 's/^CPUSET_PATH/#&/; s|^PINGCHECKER.*|PINGCHECKER_GENERIC_COMMAND="/bin/true"|' "$D/oar.conf"
echo 'exit(0);' >"$D/manager.pl"
chown oar "$D/oar.conf"
chmod 600 "$D/oar.conf"
mount --bind "$D/oar.conf" /etc/oar/oar.conf

printf '127.0.0.1 localhost\n127.0.3.9 ctl\n127.0.3.1 n1\n127.0.3.2 n2\n127.0.3.3 n3\n' >"$D/hosts"
mount --bind "$D/hosts" /etc/hosts
hostname ctl

ssh-keygen -q -t rsa -N '' -f "$D/home/.ssh/id_rsa"
(printf 'environment="OAR_KEY=1" '; cat "$D/home/.ssh/id_rsa.pub") >"$D/home/.ssh/authorized_keys"
chown -R oar:oar "$D/home"
chmod 700 "$D/home/.ssh"
mount --bind "$D/home" /var/lib/oar
mkdir -p /run/sshd
sed -e "s/^Port .*/Port $SSH/" -e '/^UsePrivilegeSeparation/d' -e '/^KeepAlive/d' /etc/oar/sshd_config >"$D/sshd_config"

exec 3>&1 >"$D/setup.log" 2>&1
su postgres -s /bin/sh -c "$B/initdb -D '$D/pg' -A trust -E UTF8 --no-locale"
su postgres -s /bin/sh -c "$B/pg_ctl -D '$D/pg' -o '-p $PG -k $D/pg -h 127.0.0.1 -c fsync=off' -w -l '$D/pg/log' start"
/usr/sbin/sshd -f "$D/sshd_config" -D -E "$D/sshd.log" &
sshd=$!
oar-database --create -y --db-host=127.0.0.1 --db-port="$PG" --db-admin-user=postgres --db-admin-pass=none
setsid /usr/sbin/oar-server &
server=$!
end() {
	trap - EXIT
	kill -- "-$server" "$sshd" || :
	su postgres -s /bin/sh -c "$B/pg_ctl -D '$D/pg' -m immediate stop" || :
	wait || :
}
trap end EXIT
for node in n1 n2 n3; do
	for core in 0 1; do oarnodesetting -a -h "$node" -p "cpuset=$core"; done
done
echo ready >&3
cat >/dev/null
