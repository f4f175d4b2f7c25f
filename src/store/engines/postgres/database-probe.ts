import { type Connection, DatabaseUnavailableError } from "./connection.ts";

/** Time between two tests whether the database answers again. */
const TEST_AGAIN_MS = 1_000;

interface ProbeOptions {
  connect(): Promise<Connection>;
  /** Called when the database cannot be reached. */
  onSilent(error: unknown): void;
}

/** Creates the knowledge whether the database answers, from the connections to it. While it does not, it is tested once a second. */
export function createDatabaseProbe({ connect, onSilent }: ProbeOptions) {
  let isAnswering = true;
  let isTesting = false;
  let isClosed = false;
  let nextTest: NodeJS.Timeout | undefined;

  async function open(): Promise<Connection> {
    try {
      const connection = await connect();
      isAnswering = true;
      return connection;
    } catch (error) {
      // A server that rejects the connection answers, so reads on other connections continue.
      if (error instanceof DatabaseUnavailableError) {
        isAnswering = false;
        onSilent(error);
        testLater();
      }
      throw error;
    }
  }

  async function test(): Promise<void> {
    if (isTesting || isClosed) return;
    isTesting = true;
    try {
      (await open()).close();
    } catch {
      // `onSilent` has reported it.
    } finally {
      isTesting = false;
      // A server that starts rejects connections for some time.
      if (!isAnswering) testLater();
    }
  }

  function testLater(): void {
    clearTimeout(nextTest);
    if (!isClosed) nextTest = setTimeout(() => void test(), TEST_AGAIN_MS).unref();
  }

  return {
    get isAnswering() {
      return isAnswering;
    },
    /** Opens a connection. */
    open,
    /** Tests with another connection whether the database answers. Never rejects. */
    test,
    close(): void {
      isClosed = true;
      clearTimeout(nextTest);
    },
  };
}
