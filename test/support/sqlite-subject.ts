import path from "node:path";
import { openStore } from "../../src/store/open-sqlite.ts";
import type { StoreSubject } from "../conformance/store/fixtures.ts";
import { temporaryDirectory } from "./temporary-directory.ts";

/** Opens stores of the SQLite engine for the tests that every engine must pass. */
export const sqliteSubject: StoreSubject = {
  name: "sqlite",
  async open(clock) {
    const options = { file: path.join(await temporaryDirectory(), "bridge.db"), ...(clock && { clock }) };
    let store = openStore(options);
    return {
      store,
      async reopen() {
        await store.close();
        store = openStore(options);
        return store;
      },
      close: () => store.close(),
    };
  },
};
