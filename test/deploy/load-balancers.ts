import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, onTestFinished } from "vitest";
import { findFreePort } from "../support/find-free-port.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { findProgram } from "./find-program.ts";

const repository = path.resolve(import.meta.dirname, "../..");
const certificate = readFileSync(path.join(repository, "test/posts/self-signed.pem"), "utf8");

/** Where a load balancer of a test listens, and its nodes as host:port. */
interface Endpoints {
  port: number;
  nodes: readonly string[];
  /** An empty directory for its files. */
  directory: string;
}

/** A load balancer with its file in `deploy/`. */
interface LoadBalancer {
  program: string;
  /** Writes the configuration of the test and returns the arguments of the program. */
  configure(file: string, endpoints: Endpoints): Promise<{ args: string[]; env?: Record<string, string>; scheme: "http" | "https" }>;
}

/** Replaces a text that occurs once, so that the test fails if the file in `deploy/` no longer contains it. */
function replaceOnce(text: string, from: string, to: string): string {
  expect(text.split(from)).toHaveLength(2);
  return text.replace(from, () => to);
}

/** The load balancers by the name of their file. Each replaces only addresses and paths. */
export const loadBalancers: Readonly<Record<string, LoadBalancer>> = {
  Caddyfile: {
    program: "caddy",
    async configure(file, { port, nodes, directory }) {
      const main = path.join(directory, "Caddyfile");
      await writeFile(main, `{\n\tadmin off\n\tauto_https off\n}\nimport ${file}\n`);
      const env = { HOME: directory, XDG_CONFIG_HOME: directory, SITE: `http://127.0.0.1:${port}`, NODES: nodes.join(" ") };
      return { args: ["run", "--config", main, "--adapter", "caddyfile"], env, scheme: "http" };
    },
  },
  "nginx.conf": {
    program: "nginx",
    async configure(file, { port, nodes, directory }) {
      const pem = path.join(directory, "certificate.pem");
      await writeFile(pem, certificate);
      const node = "server 127.0.0.1:8787 max_fails=1 fail_timeout=2s;";
      let site = replaceOnce(readFileSync(file, "utf8"), node, nodes.map((address) => node.replace("127.0.0.1:8787", address)).join("\n"));
      site = replaceOnce(site, "listen 443 ssl;", `listen 127.0.0.1:${port} ssl;`);
      site = replaceOnce(site, "/etc/ssl/bridge.example.pem", pem);
      site = replaceOnce(site, "/etc/ssl/bridge.example.key", pem);
      await writeFile(path.join(directory, "bridge.conf"), site);
      const kinds = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
      const main = `daemon off; worker_processes 1; pid nginx.pid; error_log stderr; ${process.getuid?.() === 0 ? "user root;" : ""}
        events {} http { access_log off; ${kinds.map((kind) => `${kind}_temp_path ${kind};`).join(" ")} include bridge.conf; }`;
      await writeFile(path.join(directory, "nginx.conf"), main);
      return { args: ["-p", directory, "-c", "nginx.conf"], scheme: "https" };
    },
  },
  "haproxy.cfg": {
    program: "haproxy",
    async configure(file, { port, nodes, directory }) {
      const pem = path.join(directory, "certificate.pem");
      await writeFile(pem, certificate);
      const servers = nodes.map((address, index) => `server bridge-${index + 1} ${address}`).join("\n  ");
      let text = replaceOnce(readFileSync(file, "utf8"), "server bridge-1 127.0.0.1:8787", servers);
      text = replaceOnce(text, "bind :443 ssl crt /etc/haproxy/bridge.example.pem", `bind 127.0.0.1:${port} ssl crt ${pem}`);
      const main = path.join(directory, "haproxy.cfg");
      await writeFile(main, text);
      return { args: ["-db", "-f", main], scheme: "https" };
    },
  },
};

/** Starts a load balancer in front of the nodes. Returns its URL. */
export async function startLoadBalancer(name: string, nodes: readonly string[]): Promise<string> {
  const { program, configure } = loadBalancers[name] as LoadBalancer;
  const directory = path.join(await temporaryDirectory(), "balancer");
  await mkdir(directory);
  const port = await findFreePort();
  const { args, env = {}, scheme } = await configure(path.join(repository, "deploy", name), { port, nodes, directory });
  const child = spawn(findProgram(program), args, {
    cwd: directory,
    env: { PATH: "/usr/bin:/bin", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const output: string[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => output.push(chunk.toString()));
  const exited = once(child, "exit");
  onTestFinished(async () => {
    child.kill("SIGTERM");
    await exited;
  });
  const url = `${scheme}://127.0.0.1:${port}`;
  await Promise.race([
    isListening(port),
    exited.then(([code]) => {
      throw new Error(`${program} ended with ${code}:\n${output.join("")}`);
    }),
  ]);
  return url;
}

const isListening = (port: number): Promise<void> =>
  expect
    .poll(() =>
      fetch(`http://127.0.0.1:${port}/`).then(
        () => true,
        (error) => error.cause?.code !== "ECONNREFUSED",
      ),
    )
    .toBe(true);
