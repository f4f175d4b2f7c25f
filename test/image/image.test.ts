import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { copyFile, mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { execa } from "execa";
import { expect, onTestFinished, test } from "vitest";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { until } from "../support/until.ts";
import { containerEnvironment, repository } from "./environment.ts";

const project = "bridge-image-test";
const environment = {
  ...containerEnvironment,
  COMPOSE_PROJECT_NAME: project,
  PATH: `${path.join(import.meta.dirname, "bin")}:${process.env["PATH"]}:/usr/sbin:/sbin`,
};

/** podman keeps the configuration of a network with the plugins that were installed when it was created. */
const removeNetwork = `podman network rm --force ${project}_default`;

/** A container that hangs must not use up the time of the test. */
const COMMAND_LIMIT_MS = 60_000;

/** The blocks of shell commands of a section of a page. */
function blocksOf(title: string, file = "docs/operations.md"): string[] {
  const page = readFileSync(path.join(repository, file), "utf8");
  const start = page.indexOf(`# ${title}\n`);
  const section = page.slice(start, page.indexOf("\n#", page.indexOf("\n", start)));
  return [...section.matchAll(/```sh\n(.+?)```/gs)].map(([, code = ""]) => code);
}

/**
 * Copies a compose file for podman-compose 1.0, which replaces no variable whose default is empty, such as `${BRIDGE_CALLBACK_SECRETS:-}`,
 * and builds again in `run`.
 */
async function copyCompose(file: string, directory: string): Promise<void> {
  const text = (await readFile(path.join(repository, file), "utf8")).replaceAll(/\$\{\w+:-\}/g, '""');
  const withImage = text
    .replace("build: .\n", "image: localhost/bridge\n")
    .replace("  build: ..\n  image: bridge\n", "  image: localhost/bridge\n");
  await writeFile(path.join(directory, file), withImage);
}

/** Opens a separate network, so that no port and no rule of this machine is used. Returns a function that runs shell commands in it. */
async function openNetwork(directory: string) {
  const keeper = spawn("unshare", ["--net", "sh", "-c", "ip link set lo up && echo ready && exec cat"], {
    env: environment,
    stdio: ["pipe", "pipe", "inherit"],
  });
  onTestFinished(() => void keeper.kill("SIGKILL"));
  await new Promise((resolve) => keeper.stdout.once("data", resolve));
  return (script: string) =>
    execa("nsenter", [`--net=/proc/${keeper.pid}/ns/net`, "bash", "-euo", "pipefail", "-c", script], {
      cwd: directory,
      env: environment,
      all: true,
      stdin: "ignore",
      timeout: COMMAND_LIMIT_MS,
    });
}

test("the commands of the page about containers start, use, restart, back up and restore the image", async () => {
  const directory = path.join(await temporaryDirectory(), project);
  await mkdir(directory);
  await copyFile(path.join(repository, "README.md"), path.join(directory, "README.md"));
  await copyCompose("docker-compose.yml", directory);
  const sh = await openNetwork(directory);
  onTestFinished(async () => {
    await sh(`podman-compose down --volumes --timeout 5 && ${removeNetwork}`);
  });
  const isReady = async () => (await sh("curl -fs http://127.0.0.1:8787/readyz || echo not ready")).stdout.includes('"status":"ok"');
  const auth = `-H "Authorization: Bearer $(cat data/token)"`;
  const dispatch = (id: string) =>
    sh(
      `curl -s http://127.0.0.1:8787/api/v2/dispatch ${auth} -H "Content-Type: application/json" -H "Prefer: wait=30" \
        -d '{"taskId":"${id}","agentId":"auditor","message":"Count BRIDGE in *.md"}'`,
    );
  const stateOf = async (id: string) => JSON.parse((await sh(`curl -s ${auth} http://127.0.0.1:8787/api/v2/tasks/${id}`)).stdout) as object;

  const [start = "", copy = ""] = blocksOf("Containers");
  await sh(start);
  expect(await until(isReady, 30_000)).toBe(true);
  expect((await sh("docker compose exec bridge id -u")).stdout).toContain("10001");
  expect((await sh("docker compose exec bridge cat /proc/1/comm")).stdout).toContain("tini");
  expect((await sh(`docker inspect ${project}_bridge_1 --format '{{.Config.StopTimeout}} {{.Config.User}}'`)).stdout).toContain(
    "10001:10001",
  );

  await sh(copy);
  expect(await readFile(path.join(directory, "copy.md"), "utf8")).toContain("# Bridge");
  expect(JSON.parse((await dispatch("first-1")).stdout)).toMatchObject({ state: "completed" });

  // The volume survives the container.
  await sh("docker compose down && docker compose up -d");
  expect(await until(isReady, 30_000)).toBe(true);
  expect(await stateOf("first-1")).toMatchObject({ state: "completed" });

  const [backUp = "", restore = ""] = blocksOf("Back up a container");
  await sh(backUp);
  expect((await sh("ls workspaces-backup/default/auditor")).stdout).toContain("README.md");
  expect(JSON.parse((await dispatch("second-1")).stdout)).toMatchObject({ state: "completed" });
  await sh(restore);
  expect(await until(isReady, 30_000)).toBe(true);
  expect(await stateOf("first-1")).toMatchObject({ state: "completed" });
  expect(await stateOf("second-1")).toMatchObject({ code: "not_found" });
});

test("the commands of the page about several nodes in containers start PostgreSQL, three nodes and Caddy, which survive the end of a node", async () => {
  const directory = path.join(await temporaryDirectory(), project);
  await mkdir(path.join(directory, "deploy"), { recursive: true });
  await copyCompose("deploy/compose.cluster.yml", directory);
  await copyFile(path.join(repository, "deploy/Caddyfile"), path.join(directory, "deploy/Caddyfile"));
  const sh = await openNetwork(directory);
  const compose = "docker compose --env-file .env -f deploy/compose.cluster.yml";
  onTestFinished(async () => {
    await sh(`${compose} down --volumes --timeout 5 && ${removeNetwork}`);
  });
  const call = (target: string, options = "") =>
    sh(
      `curl -s -H "Authorization: Bearer $(cat data/token)" -H "Content-Type: application/json" ${options} http://127.0.0.1/api/v2/${target}`,
    );
  const liveNodes = async () => {
    const { data } = JSON.parse((await call("nodes")).stdout || '{"data":[]}') as { data: { name: string; state: string }[] };
    return data.filter(({ state }) => state === "live").map(({ name }) => name);
  };
  const dispatch = async (id: string) =>
    JSON.parse(
      (await call("dispatch", `-H "Prefer: wait=30" -d '{"taskId":"${id}","agentId":"${id}","message":"Hello."}'`)).stdout,
    ) as object;

  const [start = ""] = blocksOf("Containers", "deploy/README.md");
  expect((await sh(start)).stdout).toContain('"name":"bridge-1"');
  expect(await until(async () => (await liveNodes()).length === 3, 60_000)).toBe(true);
  for (const id of ["one", "two", "three"]) expect(await dispatch(id)).toMatchObject({ state: "completed" });

  await sh(`podman kill ${project}_bridge-2_1`);
  for (const id of ["four", "five", "six"]) expect(await dispatch(id)).toMatchObject({ state: "completed" });
  for (const id of ["one", "six"]) expect(JSON.parse((await call(`tasks/${id}`)).stdout)).toMatchObject({ state: "completed" });
});

test("the health check of the image succeeds while Bridge runs", async () => {
  const sh = await openNetwork(repository);
  const name = `${project}-health`;
  await sh(`podman run --detach --name ${name} --network host -e BRIDGE_GATEWAY_TOKEN_HASH=${"0".repeat(64)} localhost/bridge`);
  onTestFinished(async () => {
    await sh(`podman rm --force --time 5 ${name}`);
  });
  const isHealthy = async () => (await sh(`podman healthcheck run ${name} || echo unhealthy`)).all?.includes("unhealthy") === false;
  expect(await until(isHealthy, 30_000)).toBe(true);
});

test("the target `agents` has the tools of agent programs, and a program that AGENTS names", async () => {
  const sh = await openNetwork(repository);
  const tools = [
    "git --version",
    "patch --version",
    "curl --version",
    "python3 --version",
    "rg --version",
    "bwrap --version",
    "claude --version",
  ];
  const { stdout } = await sh(
    `podman run --rm --network none localhost/bridge-agents sh -c 'id -u && ls -A /data | wc -l && ${tools.join(" && ")}'`,
  );
  expect(stdout).toMatch(/^10001\n0\n/);
  expect(stdout).toContain("Claude Code");
});

test("no image contains npm's settings or certificates of the machine that built it", async () => {
  const sh = await openNetwork(repository);
  const find = 'find / -xdev \\( -name npmrc -o -name certificates.crt \\) -not -path "*/node_modules/*"';
  for (const image of ["bridge", "bridge-agents"])
    expect((await sh(`podman run --rm --network none localhost/${image} sh -c '${find} 2>/dev/null || true'`)).stdout).toBe("");
});
