/** The entry of one installed package in a lock file. */
export interface LockedPackage {
  version?: string;
  resolved?: string;
  /** Whether the package is a directory of this repository. */
  link?: boolean;
  dev?: boolean;
  optional?: boolean;
  os?: string[];
  cpu?: string[];
  libc?: string[];
  optionalDependencies?: Record<string, string>;
}

/** The part of npm's `package-lock.json` that is read here. */
export interface Lockfile {
  packages: Record<string, LockedPackage>;
}

const systems = ["aix", "android", "darwin", "freebsd", "linux", "netbsd", "openbsd", "openharmony", "sunos", "win32"];
const processors = ["arm", "arm64", "ia32", "loong64", "mips64el", "ppc64", "riscv64", "s390x", "wasm32", "x64"];

/**
 * Adds the platform packages that npm left out, and returns their names.
 *
 * npm writes no entry for an optional package that the registry in use does not serve, and `npm ci` then rejects the lock file as out
 * of date on every machine. An entry with a platform is enough: npm does not fetch packages of other platforms.
 */
export function completeLockfile(lockfile: Lockfile): string[] {
  const added: string[] = [];
  for (const { dependent, name, version } of listMissingPlatformPackages(lockfile)) {
    const key = `node_modules/${name}`;
    const dev = lockfile.packages[dependent]?.dev;
    const { os, cpu, libc } = parsePlatform(name);
    // In npm's order, so that its next write changes nothing.
    lockfile.packages[key] = { version, cpu, ...(dev ? { dev } : {}), ...(libc === null ? {} : { libc }), optional: true, os };
    added.push(`${name}@${version}`);
  }
  lockfile.packages = Object.fromEntries(Object.entries(lockfile.packages).sort(([a], [b]) => a.localeCompare(b, "en")));
  return added;
}

/** Lists optional dependencies of locked packages that have no entry in the lock file. */
export function listMissingPlatformPackages({ packages }: Lockfile): { dependent: string; name: string; version: string }[] {
  return Object.entries(packages).flatMap(([dependent, { optionalDependencies = {} }]) =>
    Object.entries(optionalDependencies)
      .filter(([name]) => !listLookupKeys(dependent, name).some((key) => key in packages))
      .map(([name, version]) => ({ dependent, name, version })),
  );
}

/** Lists the keys of all directories where Node looks for a package. */
function listLookupKeys(dependent: string, name: string): string[] {
  const keys = [`node_modules/${name}`];
  for (let at = dependent.length; at > 0; at = dependent.lastIndexOf("/node_modules/", at - 1)) {
    keys.push(`${dependent.slice(0, at)}/node_modules/${name}`);
  }
  return keys;
}

/** Reads the platform from a package's name, for example `cli-linux-x64-musl`. */
function parsePlatform(name: string): { os: string[]; cpu: string[]; libc: string[] | null } {
  const parts = name.split(/[/-]/);
  const os = systems.filter((system) => parts.includes(system) || (system === "win32" && parts.includes("windows")));
  const cpu = processors.filter((processor) => parts.includes(processor));
  if (os.length !== 1 || cpu.length !== 1) throw new Error(`${name}: no platform in the name; add the package to the lock file by hand`);
  const libc = parts.some((part) => part.startsWith("musl")) ? ["musl"] : parts.some((part) => part.startsWith("gnu")) ? ["glibc"] : null;
  return { os, cpu, libc };
}
