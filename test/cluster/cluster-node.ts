import { type BridgeProcess, type BridgeProgram, startBridge } from "../crash/bridge-process.ts";
import { findFreePort } from "../support/find-free-port.ts";
import { openProxy, type TcpProxy } from "../support/postgres/proxy.ts";

/** One node of a cluster: a real Bridge with its own data directory, port, and connections to PostgreSQL. */
export interface ClusterNode {
  readonly name: string;
  readonly dataDir: string;
  readonly proxy: TcpProxy;
  /** Where it listens whenever it runs. */
  readonly url: string;
  /** Its settings. */
  readonly environment: Readonly<Record<string, string>>;
  /** Where it listens; null while it does not run. */
  readonly address: string | null;
  /** Its current process, or its last one; null before the first start. */
  readonly life: BridgeProcess | null;
  /** Starts it. Resolves when it listens. */
  start(options?: Partial<BridgeProgram> & { environment?: Readonly<Record<string, string>> }): Promise<void>;
  /** Kills it with SIGKILL. */
  kill(): Promise<void>;
  /** Stops it with SIGTERM, as a load balancer sees it: without new requests. Returns its exit code. */
  stop(): Promise<number | null>;
  /** Returns the codes of the processes that ended by themselves since the last call. */
  takeExits(): (number | null)[];
  /** Ends the process and the proxy. */
  close(): Promise<void>;
  /** The log lines of level error of all its processes. */
  errorLines(): string[];
}

/** What a node is made of. */
export interface NodeOptions {
  name: string;
  dataDir: string;
  databasePort: number;
  /** Returns the URL of the database at a port. */
  urlAt(port: number): string;
  environment: Readonly<Record<string, string>>;
  program: Partial<BridgeProgram>;
}

/** If this process is stopped, no node stays behind. */
const running = new Set<BridgeProcess>();
process.once("exit", () => {
  for (const life of running) life.signal("SIGKILL");
});

/** Creates a node that has not started yet. */
export async function createClusterNode(options: NodeOptions): Promise<ClusterNode> {
  const { name, dataDir, urlAt, program } = options;
  const proxy = await openProxy(options.databasePort);
  const port = await findFreePort();
  const url = `http://127.0.0.1:${port}`;
  const settings = {
    ...options.environment,
    BRIDGE_PORT: String(port),
    BRIDGE_DATA_DIR: dataDir,
    BRIDGE_DATABASE_URL: urlAt(proxy.port),
    BRIDGE_NODE_NAME: name,
    BRIDGE_NODE_URL: url,
  };
  const lives: BridgeProcess[] = [];
  let address: string | null = null;
  let exits: (number | null)[] = [];
  let isEnding = false;

  return {
    name,
    dataDir,
    proxy,
    url,
    environment: settings,
    get address() {
      return address;
    },
    get life() {
      return lives.at(-1) ?? null;
    },
    async start({ environment = {}, ...other } = {}) {
      const life = startBridge({ ...settings, ...environment }, { ...program, ...other });
      lives.push(life);
      running.add(life);
      isEnding = false;
      void life.exited.then((code) => {
        running.delete(life);
        if (lives.at(-1) !== life) return;
        address = null;
        if (!isEnding) exits.push(code);
      });
      const listening = await life.address;
      if (lives.at(-1) === life) address = listening;
    },
    async kill() {
      address = null;
      isEnding = true;
      await lives.at(-1)?.kill();
    },
    async stop() {
      isEnding = true;
      address = null;
      const stopping = lives.at(-1)?.stop();
      return (await stopping) ?? null;
    },
    takeExits() {
      const taken = exits;
      exits = [];
      return taken;
    },
    async close() {
      isEnding = true;
      // A start that failed can leave the earlier process.
      for (const life of running) if (lives.includes(life)) await life.kill();
      await proxy.close();
    },
    errorLines: () => lives.flatMap(({ errorLines }) => errorLines),
  };
}
