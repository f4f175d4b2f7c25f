import type { StoreSubject } from "../../conformance/store/fixtures.ts";
import { createDatabase } from "./create-database.ts";
import { openNode } from "./open-node.ts";

/** The PostgreSQL engine, as tests that every engine must pass open it: each store has a separate database. */
export const postgresSubject: StoreSubject = {
  name: "postgres",
  async open(clock) {
    const { urlAt, port } = await createDatabase();
    const options = { url: urlAt(port), node: "node-1", clock };
    let { store } = await openNode(options);
    return {
      store,
      async reopen() {
        await store.close();
        ({ store } = await openNode(options));
        return store;
      },
      close: () => store.close(),
    };
  },
};
