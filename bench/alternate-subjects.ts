import { execFileSync } from "node:child_process";
import path from "node:path";
import { DRIVER_CORE, type RunningServer, type ServerName, startServer } from "./servers.ts";
import { connectTaskClient, type TaskClient } from "./task-client.ts";

/** A Bridge that is measured, and its measurements. */
export interface Subject<Round> {
  name: ServerName;
  server: RunningServer;
  client: TaskClient;
  rounds: Round[];
}

interface Measurements<Round> {
  /** Comma-separated directories of other checkouts of Bridge, which are measured too. */
  against: string | undefined;
  /** Variables for each Bridge. */
  environment: Readonly<Record<string, string>>;
  /** The recorded rounds. */
  rounds: number;
  measure(subject: Subject<Round>, round: number): Promise<Round>;
  /** Describes a measurement in one line. */
  describe(measured: Round): string;
}

/** Measures this Bridge and those of other checkouts in turn, and the event loop of each. The first round is not recorded. */
export async function alternateSubjects<Round>(options: Measurements<Round>): Promise<Subject<Round>[]> {
  const { against, environment, rounds, measure, describe } = options;
  execFileSync("taskset", ["-acp", String(DRIVER_CORE), String(process.pid)], { stdio: "ignore" });
  const others = (against?.split(",") ?? []).map((checkout): ServerName => `bridge@${path.resolve(checkout)}`);
  const nodeOptions = ["--import", path.join(import.meta.dirname, "loop-preload.ts")];
  const subjects: Subject<Round>[] = [];
  try {
    for (const name of ["bridge", ...others] as const) {
      const server = await startServer(name, { asOperator: true, nodeOptions, environment });
      subjects.push({ name, server, client: await connectTaskClient(server.target), rounds: [] });
    }
    // Node compiles the code in the first round.
    for (let round = -1; round < rounds; round += 1) {
      for (const subject of round % 2 === 0 ? subjects : subjects.toReversed()) {
        const measured = await measure(subject, round);
        if (round >= 0) subject.rounds.push(measured);
        console.log(`round ${round + 1}: ${subject.name} ${describe(measured)}`);
      }
    }
    return subjects;
  } finally {
    for (const { server, client } of subjects) {
      await server.stop();
      await client.close();
    }
  }
}
