import { adapterConformance } from "bridge-server/conformance";
import { createAdapter } from "./echo-adapter.js";

adapterConformance("echo", {
  createAdapter,
  hasProcesses: false,
  config: { env: { ECHO_WORD_DELAY_MS: "1" } },
  scenarios: {
    speak: (message) => ({ message }),
    echo: () => ({}),
    hang: () => ({ message: "word ".repeat(100_000) }),
    fail: { errorCode: "model_error", ask: () => ({ message: " " }) },
    useTool: null,
    resume: null,
  },
});
