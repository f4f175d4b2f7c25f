# syntax=docker/dockerfile:1

# The packages of a production install, without the optional ones: they contain Node, which the image has.
FROM node:24-slim AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY packages ./packages
RUN npm ci --omit=dev --omit=optional

# The console, with the packages that build it.
FROM node:24-slim AS console
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY packages ./packages
RUN npm ci --workspace=bridge-console
RUN node packages/console/build/build.ts

FROM node:24-slim AS bridge
# Agents may leave child processes behind, so process 1 must be an init that reaps them. `docker run --init` would do the same, but is
# easily forgotten.
RUN apt-get update && apt-get install --yes --no-install-recommends tini && rm -rf /var/lib/apt/lists/*

WORKDIR /app
COPY --from=packages /app/node_modules ./node_modules
COPY --from=packages /app/packages ./packages
COPY package.json LICENSE ./
COPY migrations ./migrations
COPY src ./src
COPY adapters ./adapters
COPY --from=console /app/packages/console/dist ./packages/console/dist
COPY examples/agents ./examples/agents

RUN mkdir /data && chown 10001:10001 /data
USER 10001:10001
VOLUME /data

ENV NODE_ENV=production \
    PATH=/app/node_modules/.bin:$PATH \
    HOME=/data \
    BRIDGE_HOST=0.0.0.0 \
    BRIDGE_PORT=8787 \
    BRIDGE_DATA_DIR=/data
EXPOSE 8787

HEALTHCHECK --interval=10s --timeout=3s --start-period=20s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.BRIDGE_PORT}/healthz`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]

ENTRYPOINT ["tini", "--"]
CMD ["node", "src/start.js"]

# Bridge with the tools that agent programs use, with bubblewrap for BRIDGE_SANDBOX, and with the programs that AGENTS names:
#   docker build --target agents --build-arg AGENTS=@anthropic-ai/claude-code --tag bridge-agents .
FROM bridge AS agents
ARG AGENTS=""
USER root
RUN apt-get update \
  && apt-get install --yes --no-install-recommends bubblewrap ca-certificates curl git patch python3 ripgrep \
  && rm -rf /var/lib/apt/lists/*
# The cache must not be in HOME, because that is the volume of the user below.
RUN test -z "$AGENTS" || { npm install --global --cache /tmp/npm $AGENTS && rm -rf /tmp/npm; }
USER 10001:10001

# The default target is Bridge alone.
FROM bridge
