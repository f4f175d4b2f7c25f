import { defineConfig, mergeConfig } from "vitest/config";
import all from "../vitest.config.ts";

/** A selection of `npm test` for whoever edits: pure functions, tables, the engine in one process, and one task on its whole way. */
export default mergeConfig(
  defineConfig({ ...all, test: { ...all.test, include: [] } }),
  defineConfig({
    test: {
      include: [
        "test/config.test.ts",
        "test/adapters/*/{arguments,events,messages,options,outcome,parts,request,tell-story}.test.ts",
        "test/adapters/program/{decide-call,mcp-server-names,program-environment,prompt,task-story}.test.ts",
        "test/approvals/*.test.ts",
        "test/callbacks/{callback-body,callback-claims,callback-failure,callback-guard,callback-schedule,callback-worker,sign-callback}.test.ts",
        "test/dispatch/{assemble-request,canonical-json,dispatch-request,dispatcher,fair-shares,indexed-heap,lanes,run-task,task-clocks,task-end}.test.ts",
        "test/events/{encode-event-data,encode-text,event-feed,event-id,event-log}.test.ts",
        "test/house/{docs,floors,readme,states,wall-time}.test.ts",
        "test/http/{byte-range,cursor,dispatch,etag,event-frame,prefer,problem,request-id,tasks,traceparent}.test.ts",
        "test/main/whole-way.test.ts",
        "test/packages/{async-kit,council}/*.test.ts",
        "test/websocket/ops.test.ts",
      ],
    },
  }),
);
