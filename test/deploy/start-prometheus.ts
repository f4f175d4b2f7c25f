import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, onTestFinished } from "vitest";
import { findFreePort } from "../support/find-free-port.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { findProgram } from "./find-program.ts";
import { configurePrometheus } from "./observability-files.ts";

/** The answer of Prometheus to a query. */
interface QueryAnswer {
  status: string;
  error?: string;
  data?: { result: { metric: Record<string, string>; value: [number, string] }[] };
}

/** Starts Debian's Prometheus with the files in `deploy/observability/`, which scrapes the targets every second until the test ends. */
export async function startPrometheus({ targets, token }: { targets: readonly string[]; token: string }) {
  const directory = path.join(await temporaryDirectory(), "prometheus");
  await mkdir(directory);
  await writeFile(path.join(directory, "token"), `${token}\n`);
  const { config } = await configurePrometheus(directory, { targets, scrapeInterval: "1s" });
  const port = await findFreePort();
  const args = [`--config.file=${config}`, `--storage.tsdb.path=${path.join(directory, "data")}`, `--web.listen-address=127.0.0.1:${port}`];
  const child = spawn(findProgram("prometheus"), [...args, "--enable-feature=exemplar-storage", "--log.level=warn"], {
    cwd: directory,
    env: { PATH: "/usr/bin:/bin", GOMAXPROCS: "1" },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let stderr = "";
  child.stderr.on("data", (chunk) => {
    stderr += chunk;
  });
  const exited = once(child, "exit");
  onTestFinished(async () => {
    child.kill("SIGTERM");
    await exited;
  });
  const url = `http://127.0.0.1:${port}`;
  const isReady = () =>
    fetch(`${url}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
  await Promise.race([
    expect.poll(isReady).toBe(true),
    exited.then(([code]) => {
      throw new Error(`prometheus ended with ${code}:\n${stderr}`);
    }),
  ]);

  const get = async (target: string): Promise<unknown> => (await fetch(url + target)).json();
  return {
    get,
    query: async (expr: string) => (await get(`/api/v1/query?query=${encodeURIComponent(expr)}`)) as QueryAnswer,
  };
}
