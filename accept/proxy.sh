#!/usr/bin/env bash
# All pages and forms behind nginx, below a path, compressed, with live updates.
#
#   accept/proxy.sh bin/hammr
#
# NGINX_PROGRAM names the program. Without it the check counts as not run.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
hammr=$(realpath "${1:-bin/hammr}")
nginx=${NGINX_PROGRAM:-$(PATH=$PATH:/usr/sbin command -v nginx || true)}
if [[ -z $nginx ]]; then
	echo "proxy: not run: nginx is missing (apt-get install nginx)"
	exit 0
fi
dir=$(mktemp -d)
ui= proxy=
end() {
	[[ -z $proxy ]] || kill "$proxy" || true
	[[ -z $ui ]] || kill "$ui" || true
	"$hammr" down --dir "$dir/cluster" >/dev/null 2>&1 || true
	rm -rf "$dir"
}
trap end EXIT

"$hammr" up --dir "$dir/cluster" --masters 3 --tasknodes 2 --pools nightly --detach >"$dir/masters"
HAMMR_MASTER=$(paste -sd, "$dir/masters")
export HAMMR_MASTER HAMMR_TOKEN_FILE=$dir/cluster/token
"$hammr" ui --http 127.0.0.1:0 --http-base /hammr/ --http-proxies 127.0.0.1/32 >"$dir/ui" 2>"$dir/ui.log" &
ui=$!
until [[ -s $dir/ui ]]; do sleep 0.1; done
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')

# The location is that of docs/ui.md. Nginx buffers answers and compresses nothing by default.
cat >"$dir/nginx.conf" <<END
daemon off;
pid $dir/nginx.pid;
error_log $dir/error.log;
events {}
http {
    access_log off;
    client_body_temp_path $dir/body; proxy_temp_path $dir/proxy; fastcgi_temp_path $dir/f; uwsgi_temp_path $dir/u; scgi_temp_path $dir/s;
    server {
        listen 127.0.0.1:$port;
        location /hammr/ {
            proxy_pass $(cat "$dir/ui");
            proxy_set_header Host \$http_host;
            proxy_set_header X-Forwarded-Proto \$scheme;
            proxy_set_header X-Forwarded-For \$remote_addr;
        }
    }
}
END
"$nginx" -c "$dir/nginx.conf" -e "$dir/error.log" &
proxy=$!

seq 1 1000 >"$dir/input"
"$hammr" run wordcount "$dir/input" "$dir/output" 2>/dev/null
running=$("$hammr" submit sleep -m 4 -r 1 -mt 600000 2>/dev/null)
python3 "$here/proxy.py" "http://127.0.0.1:$port/hammr/" "$(cat "$HAMMR_TOKEN_FILE")" "$running" "$hammr"
