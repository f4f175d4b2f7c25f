import { defineConfig, mergeConfig } from "vitest/config";
import all from "../vitest.config.ts";

/**
 * A selection of `npm test` for use while editing: pure functions, tables, the engine in one process, and one task from dispatch to
 * callback.
 */
export default mergeConfig(
  defineConfig({ ...all, test: { ...all.test, include: [] } }),
  defineConfig({
    test: {
      include: [
        "test/config/config.test.ts",
        "test/adapters/{*,shared/*}/{arguments,events,messages,options,outcome,parts,request,session-recorder}.test.ts",
        "test/adapters/shared/agent-program/{decide-approval,mcp-server-names,program-environment,prompt,task-timeline}.test.ts",
        "test/approvals/*.test.ts",
        "test/callbacks/*.test.ts",
        "test/posts/{claims,failure,schedule,sign}.test.ts",
        "test/dispatch/{dispatcher,admission/validate-dispatch,end/record-task-end,run/build-execution-request,run/run-task,run/task-clocks,scheduler/fair-shares,scheduler/indexed-heap,scheduler/scheduler}.test.ts",
        "test/requests/{canonical-json,parse-dispatch}.test.ts",
        "test/events/{encode-event-data,encode-text-delta,event-feed,event-id,event-log}.test.ts",
        "test/network/destination-guard.test.ts",
        "test/repository/{docs,layers,readme,states,wall-time}.test.ts",
        "test/http/routes/{byte-range,dispatch,tasks,trace-context}.test.ts",
        "test/http/wire/{encode-event,etag,pagination,prefer-header,problem,request-id}.test.ts",
        "test/scenarios/end-to-end.test.ts",
        "packages/{async-kit,council}/test/*.test.ts",
        "test/websocket/ops.test.ts",
      ],
    },
  }),
);
