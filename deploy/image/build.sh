#!/bin/sh
# Builds the container image with buildah: one static binary and no other program.
#
#   deploy/image/build.sh [NAME:TAG]      hammr:latest if no name is given
#
# BUILDAH       the command, with options such as its storage; buildah if unset
# VERSION       the release; `git describe` if unset
# GOARCH        the processor; that of this machine if unset
# HAMMR_BINARY  a binary that was built already; it is compiled if unset
#
# The image of a commit has the same layers each time: the binary has no paths of this machine,
# and all files have the time of the commit.
set -eu
cd "$(dirname "$0")/../.."

image=${1:-hammr:latest}
buildah=${BUILDAH:-buildah}
arch=${GOARCH:-$(go env GOARCH)}
revision=$(git rev-parse HEAD)
version=${VERSION:-$(git describe --tags --always --dirty)}
committed=$(git show -s --format=%ct HEAD)
user=65532 # "nonroot" of the common base images

work=$(mktemp -d)
container=
finish() {
	[ -z "$container" ] || $buildah rm "$container" >/dev/null
	rm -rf "$work"
}
trap finish EXIT
trap 'exit 1' HUP INT TERM

root=$work/root
mkdir -p "$root/etc" "$root/var/lib" "$root/tmp" "$work/data"
chmod 755 "$root" "$root/etc" "$root/var" "$root/var/lib"
chmod 1777 "$root/tmp"
chmod 700 "$work/data"
# Without these, the user of the process has no name.
echo "hammr:x:$user:$user:Hammr:/var/lib/hammr:/nonexistent" >"$root/etc/passwd"
echo "hammr:x:$user:" >"$root/etc/group"
if [ -n "${HAMMR_BINARY:-}" ]; then
	cp "$HAMMR_BINARY" "$root/hammr"
else
	CGO_ENABLED=0 GOARCH=$arch go build -trimpath -ldflags="-s -w -X github.com/hammr/hammr/cli.version=$version" -o "$root/hammr" ./cmd/hammr
fi
chmod 755 "$root/hammr"

container=$($buildah from --arch "$arch" scratch)
$buildah copy --quiet --chown 0:0 "$container" "$root" / >/dev/null
$buildah copy --quiet --chown "$user:$user" "$container" "$work/data" /var/lib/hammr >/dev/null
# Settings of the daemons are variables HAMMR_...; `hammr` finds itself by PATH in `podman exec`.
$buildah config \
	--user "$user:$user" --workingdir /var/lib/hammr --env PATH=/ --env HOME=/var/lib/hammr --env USER=hammr \
	--entrypoint '["/hammr"]' --stop-signal SIGTERM \
	--port 7070/tcp --port 7071/tcp --port 7080/tcp --port 7081/tcp \
	--label org.opencontainers.image.title=hammr \
	--label org.opencontainers.image.description="MapReduce engine for HDFS and local files" \
	--label org.opencontainers.image.licenses=Apache-2.0 \
	--label org.opencontainers.image.version="$version" \
	--label org.opencontainers.image.revision="$revision" \
	"$container"
$buildah commit --quiet --timestamp "$committed" "$container" "$image"
