# syntax=docker/dockerfile:1
# The gateway on a distroless base: no shell, no package manager, no root, a read-only root works.
# It has no ffmpeg: "Recordings that are converted" in docs/guides/operate.md says how to add one.
#   docker build -t tributary .
# Both bases are indexes of all platforms, pinned by digest; the tags say what they are.
FROM node:26.10.0-bookworm-slim@sha256:662933cf47f013bc8e4beb31a6116448427a82057ba7c42c97e4c5ba766504c2 AS build
WORKDIR /build
COPY package.json package-lock.json ./
RUN npm ci --no-audit --no-fund
COPY . .
RUN node scripts/build.mjs --force && node scripts/build-sbom.mjs > sbom.cdx.json
# The pinned Node and the embedded PostgreSQL are optional packages: the image has its own Node, and
# its database is another container.
RUN npm ci --omit=dev --omit=optional --no-audit --no-fund && sh deploy/docker/collect.sh /app \
 && node deploy/docker/compile.mjs /app
# Node needs one library that the base does not have.
RUN mkdir /libraries && cp -L /usr/lib/*-linux-gnu/libatomic.so.1 /libraries/

FROM gcr.io/distroless/cc-debian12:nonroot@sha256:9dac0a79194e45a7da0158a9c6da57b217585af0786db3845d1f0ec1a0dd182f
COPY --from=build /usr/local/bin/node /usr/local/bin/node
COPY --from=build /libraries/ /usr/lib/
COPY --from=build /app /app
COPY --from=build --chown=65532:65532 /build/deploy/docker/data /data
WORKDIR /app
ENV HOST=0.0.0.0 PORT=8080 METRICS_HOST=0.0.0.0 METRICS_PORT=9464 DATA_DIR=/data \
    LOG_FORMAT=json NODE_ENV=production
USER 65532:65532
VOLUME /data
EXPOSE 8080 9464
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s \
  CMD ["/usr/local/bin/node", "/app/deploy/docker/health.mjs"]
ENTRYPOINT ["/usr/local/bin/node", "/app/bin/tributary.ts"]
CMD ["serve"]
