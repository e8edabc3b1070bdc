#!/bin/sh
# Copies what the gateway needs at run time from the built checkout to a folder.
#   deploy/docker/collect.sh /app
set -eu
target=$1
mkdir -p "$target/console" "$target/docs" "$target/deploy/docker"
cp -r bin catalog migrations server simulators package.json node_modules "$target/"
cp -r console/dist "$target/console/dist"
cp -r docs/dist "$target/docs/dist"
cp deploy/docker/health.mjs "$target/deploy/docker/"
if [ -f sbom.cdx.json ]; then cp sbom.cdx.json "$target/"; fi
rm -rf "$target/node_modules/.cache" "$target/node_modules/.bin"
# A third of the packages: types and source maps, which Node does not read.
find "$target/node_modules" -type f \( -name '*.d.ts' -o -name '*.d.mts' -o -name '*.d.cts' -o -name '*.map' \) -delete
# Forms of the tokenizer that nothing imports: CommonJS, its sources and their data.
rm -r "$target/node_modules/gpt-tokenizer/cjs" "$target/node_modules/gpt-tokenizer/src" \
  "$target/node_modules/gpt-tokenizer/data"
mkdir -p deploy/docker/data
