#!/bin/bash
# Builds the packages of VERSION into DIR: build.sh VERSION DIR. They are for the processor ARCH, amd64
# or arm64, this machine's if it is not set. It needs Go, git and gzip, and no root. The same commit
# gives the same bytes: every date is that of the commit.
set -euo pipefail

NFPM=github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.48.0

(($# == 2)) || { echo "usage: build.sh VERSION DIR" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.."
mkdir -p "$2"
out=$(cd "$2" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

VERSION=$1
ARCH=${ARCH:-$(go env GOHOSTARCH)}
TRIMPATH=${TRIMPATH:-true} # false compiles less after tests, and the bytes depend on this directory
SOURCE_DATE_EPOCH=$(git show -s --format=%ct HEAD)
export VERSION ARCH SOURCE_DATE_EPOCH TZ=UTC LC_ALL=C

# build ARCH FILE builds the program for a processor.
build() {
	CGO_ENABLED=0 GOOS=linux GOARCH=$1 go build -trimpath="$TRIMPATH" -ldflags "-s -w -X github.com/hammr/hammr/cli.version=v$VERSION" -o "$2" ./cmd/hammr
}
build "$ARCH" "$work/hammr"
native=$work/hammr # runs here
if [[ $ARCH != $(go env GOHOSTARCH) ]]; then
	native=$work/native
	build "$(go env GOHOSTARCH)" "$native"
fi
# hammr runs the program without the environment of this user, so that no default comes from there.
hammr() { env -i TZ=UTC SOURCE_DATE_EPOCH="$SOURCE_DATE_EPOCH" "$native" "$@"; }

CGO_ENABLED=0 go build -o "$work/manual" ./deploy/packages/man
env -i TZ=UTC SOURCE_DATE_EPOCH="$SOURCE_DATE_EPOCH" "$work/manual" "$work/man"
gzip -9n "$work"/man/*
for shell in bash zsh fish; do
	hammr completion $shell >"$work/hammr.$shell"
done
gzip -9n >"$work/changelog.gz" <<END
hammr ($VERSION) unstable; urgency=medium

  * Commit $(git rev-parse --short=12 HEAD).

 -- Hammr developers <hammr@users.noreply.github.com>  $(date -R -d "@$SOURCE_DATE_EPOCH")
END
cp -r "$here"/{deb,rpm,jobmaster.yaml,tasknode.yaml,copyright,lintian-overrides} deploy/systemd/* LICENSE "$work"
find "$work" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +

cd "$work"
for format in deb rpm; do
	go run "$NFPM" package --config "$here/nfpm.yaml" --packager $format --target "$out"
done
