import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";

/** The repository. */
export const repository = path.resolve(import.meta.dirname, "../..");

/** Images, containers and their settings. Kept between runs, because the base image takes minutes. */
export const stateDirectory = process.env["BRIDGE_TEST_IMAGES"] ?? "/var/tmp/bridge-test-images";

/** Settings of buildah and podman that keep everything in `stateDirectory`. */
export const containerEnvironment = {
  CONTAINERS_STORAGE_CONF: path.join(stateDirectory, "storage.conf"),
  CONTAINERS_CONF: path.join(stateDirectory, "containers.conf"),
};

/** The programs that the tests use, and their Debian packages. */
export const PROGRAMS: Readonly<Record<string, string>> = {
  buildah: "buildah",
  podman: "podman",
  "podman-compose": "podman-compose",
  runc: "runc",
  debootstrap: "debootstrap",
  iptables: "iptables",
  ip: "iproute2",
  dnsmasq: "dnsmasq-base",
};

/** The plugins for networks of podman, and their Debian packages. */
export const NETWORK_PLUGINS: Readonly<Record<string, string>> = {
  bridge: "containernetworking-plugins",
  dnsname: "golang-github-containernetworking-plugin-dnsname",
};

/** Writes the settings. */
export async function writeContainerSettings(): Promise<void> {
  await mkdir(stateDirectory, { recursive: true });
  const storage = [
    "[storage]",
    'driver = "overlay"',
    `graphroot = "${path.join(stateDirectory, "storage")}"`,
    `runroot = "${path.join(stateDirectory, "run")}"`,
  ];
  await writeFile(containerEnvironment.CONTAINERS_STORAGE_CONF, `${storage.join("\n")}\n`);
  const containers = [
    "[containers]",
    // The defaults exceed the limits of some machines.
    'default_ulimits = ["nofile=4096:4096", "nproc=4096:4096"]',
    "[engine]",
    // Unlike crun, runc accepts the hybrid layout of cgroups.
    'runtime = "runc"',
    'cgroup_manager = "cgroupfs"',
    'events_logger = "file"',
  ];
  await writeFile(containerEnvironment.CONTAINERS_CONF, `${containers.join("\n")}\n`);
}
