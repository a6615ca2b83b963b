# The server in a container. How to run it: docs/guides/install.md
FROM node:22-bookworm-slim AS build
WORKDIR /src
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts
COPY . .
RUN npm run build && npm pack --ignore-scripts && mv countersign-*.tgz /countersign.tgz

FROM node:22-bookworm-slim
# The dev toolkit works on repositories with git.
RUN apt-get update \
  && apt-get install -y --no-install-recommends ca-certificates git \
  && rm -rf /var/lib/apt/lists/*
RUN --mount=type=bind,from=build,source=/countersign.tgz,target=/tmp/countersign.tgz \
  npm install --global --omit=dev --no-audit --no-fund /tmp/countersign.tgz \
  && npm cache clean --force
RUN install -d -o node -g node -m 700 /data
ENV COUNTERSIGN_HOME=/data
VOLUME ["/data"]
WORKDIR /data
USER node
EXPOSE 8765
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.COUNTERSIGN_SERVER__PORT || 8765}/`, { headers: { accept: 'application/json' } }).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["countersign"]
# Beyond loopback every agent needs a token, so the first start is: docker run … agents add NAME
CMD ["up", "--host", "0.0.0.0"]
