# The server with its dashboard and the command line. One volume: /data.
#   docker build -t playhead .
#   docker run -p 4318:4318 -v playhead:/data -e PLAYHEAD_PASSWORD=… --read-only --tmpfs /tmp playhead
# `node deploy/try-image.mjs` runs these steps without Docker, in a bare Debian root.

FROM node:24-bookworm-slim AS build
WORKDIR /src
COPY . .
RUN npm run pack
WORKDIR /app
RUN npm init --yes >/dev/null && npm install --omit=dev --no-audit --no-fund /src/artifacts/*.tgz

FROM node:24-bookworm-slim
ENV NODE_ENV=production
ENV PLAYHEAD_HOST=0.0.0.0
ENV PLAYHEAD_PORT=4318
ENV PLAYHEAD_GRPC_PORT=4317
ENV PLAYHEAD_DATA=/data
ENV PATH=/app/node_modules/.bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
RUN groupadd --gid 10001 playhead && useradd --uid 10001 --gid 10001 --no-create-home --home-dir /data playhead
COPY --from=build /app /app
RUN mkdir /data && chown 10001:10001 /data && chmod 700 /data
USER 10001:10001
WORKDIR /data
VOLUME /data
EXPOSE 4318 4317
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s CMD ["node", "-e", "process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'; const { PLAYHEAD_TLS_CERT, PLAYHEAD_PORT } = process.env; fetch(`http${PLAYHEAD_TLS_CERT ? 's' : ''}://127.0.0.1:${PLAYHEAD_PORT}/healthz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["playhead"]
CMD ["serve"]
