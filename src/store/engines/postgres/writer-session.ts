import type { Connection } from "./connection.ts";
import { prepareNumbering } from "./number-events.ts";
import { planAsWritten } from "./plan-as-written.ts";

/** The one connection of the writer, opened when it is needed. */
export function createSession(connect: () => Promise<Connection>) {
  let connection: Connection | null = null;
  const close = (): void => {
    connection?.close();
    connection = null;
  };
  return {
    async open(): Promise<Connection> {
      if (connection?.isLost === true) close();
      if (connection === null) {
        connection = await connect();
        await connection.query(`${planAsWritten}; ${prepareNumbering}`);
      }
      return connection;
    },
    close,
  };
}
