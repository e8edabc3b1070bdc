#!/bin/sh
# Builds the image of the Dockerfile without an engine and without a registry: a root file system of
# five Debian packages, the pinned Node of package-lock.json, and the gateway. Needs Debian's buildah,
# npm and the network of both.
#   deploy/docker/build-without-engine.sh [tag]
set -eu
cd "$(dirname "$0")/../.."
tag=${1:-tributary}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
umask 022

# The run-time libraries of Node: no shell, no package manager, nothing else.
mkdir "$work/debs" "$work/root" "$work/build"
(cd "$work/debs" && apt-get download -q libatomic1 libc6 libgcc-s1 libstdc++6 tzdata)
for deb in "$work"/debs/*.deb; do dpkg-deb --extract "$deb" "$work/root"; done
rm -rf "$work/root/usr/share/doc" "$work/root/usr/share/lintian" "$work/root/usr/share/gcc"
mkdir -p "$work/root/proc" "$work/root/dev" "$work/root/etc" "$work/root/tmp" "$work/root/data" "$work/root/usr/local/bin"
# As everywhere: whoever runs without a mount there writes to it too.
chmod 1777 "$work/root/tmp"
printf 'nonroot:x:65532:65532:nonroot:/data:/sbin/nologin\n' > "$work/root/etc/passwd"
printf 'nonroot:x:65532:\n' > "$work/root/etc/group"
printf 'hosts: files dns\n' > "$work/root/etc/nsswitch.conf"

# As the stages of the Dockerfile, outside of this checkout.
git ls-files -z | xargs -0 cp --parents -t "$work/build"
cd "$work/build"
npm ci --no-audit --no-fund --loglevel=error
node=$(ls -d node_modules/node-*/bin/node | head -n 1)
cp "$node" "$work/root/usr/local/bin/node"
"$node" scripts/build.mjs --force
"$node" scripts/build-sbom.mjs > sbom.cdx.json
npm ci --omit=dev --omit=optional --no-audit --no-fund --loglevel=error
sh deploy/docker/collect.sh "$work/root/app"
"$work/root/usr/local/bin/node" deploy/docker/compile.mjs "$work/root/app"

container=$(buildah from --format docker scratch)
buildah copy -q "$container" "$work/root" /
buildah copy -q --chown 65532:65532 "$container" "$work/root/data" /data
buildah config --user 65532:65532 --workingdir /app --port 8080 --port 9464 --volume /data \
  --env HOST=0.0.0.0 --env PORT=8080 --env METRICS_HOST=0.0.0.0 --env METRICS_PORT=9464 \
  --env DATA_DIR=/data --env LOG_FORMAT=json --env NODE_ENV=production --stop-signal SIGTERM \
  --entrypoint '["/usr/local/bin/node", "/app/bin/tributary.ts"]' --cmd serve \
  --healthcheck 'CMD /usr/local/bin/node /app/deploy/docker/health.mjs' "$container"
buildah commit -q --rm --format docker "$container" "$tag"
