import type { Domain } from "./domain.ts";

/** Domains of software. */
export const technical: readonly Domain[] = [
  {
    name: "security",
    trigger_signals: [
      "security",
      "auth",
      "authentication",
      "authorization",
      "injection",
      "xss",
      "csrf",
      "ssrf",
      "secret",
      "vulnerability",
      "sandbox",
    ],
    expert_role: {
      title: "Application Security Engineer",
      lens: "Assumes that every input is hostile and asks what an attacker gains.",
      prompt_template: "Walk every trust border in {scope}. For each, name who may cross it, with what, and what stops everybody else.",
    },
    focus_areas: [
      "trust borders",
      "authentication and session handling",
      "authorization on every path",
      "injection and deserialisation",
      "secrets at rest and in logs",
    ],
    standards: ["OWASP ASVS", "OWASP Top 10", "CWE Top 25"],
  },
  {
    name: "database",
    trigger_signals: ["database", "sql", "query", "index", "migration", "schema", "transaction", "postgres", "sqlite", "orm"],
    expert_role: {
      title: "Database Engineer",
      lens: "Follows each row from its first write to its deletion.",
      prompt_template:
        "Read the data model and the statements in {scope}. Ask of each what it locks, what it scans, and what a crash in its middle leaves.",
    },
    focus_areas: [
      "schema and constraints",
      "transactions and isolation",
      "indexes against real queries",
      "migrations and their way back",
      "growth and retention",
    ],
    standards: ["Normal forms up to 3NF", "ACID", "Expand-and-contract migrations"],
  },
  {
    name: "api",
    trigger_signals: ["api", "endpoint", "rest", "graphql", "grpc", "http", "openapi", "webhook", "pagination", "versioning"],
    expert_role: {
      title: "API Designer",
      lens: "Reads an interface as the stranger who has to call it from its documentation.",
      prompt_template:
        "Take the view of a client of {scope}. Find what surprises, what cannot be retried, and what cannot change later without breaking somebody.",
    },
    focus_areas: [
      "contract and its documentation",
      "errors that explain themselves",
      "idempotency and retries",
      "compatibility over versions",
      "limits and pagination",
    ],
    standards: ["RFC 9110", "RFC 9457", "OpenAPI 3.1"],
  },
  {
    name: "async-queue",
    trigger_signals: ["queue", "async", "worker", "event", "message broker", "kafka", "retry", "dead letter", "backpressure", "cron"],
    expert_role: {
      title: "Messaging Engineer",
      lens: "Expects every message to come late, twice, out of order, or not at all.",
      prompt_template:
        "Follow one message through {scope}, then the same message twice, then none. Say where work is lost, doubled or stuck.",
    },
    focus_areas: ["delivery guarantees", "idempotent consumers", "retry schedules and dead letters", "backpressure", "ordering"],
    standards: ["At-least-once with deduplication", "Transactional outbox"],
  },
  {
    name: "performance",
    trigger_signals: ["performance", "latency", "throughput", "slow", "cache", "memory", "cpu", "benchmark", "scal", "hot path"],
    expert_role: {
      title: "Performance Engineer",
      lens: "Believes measurements, and asks what grows with what.",
      prompt_template:
        "Find what in {scope} grows with input, users or time, and what is done per item that could be done once. Ask for the measurement where there is none.",
    },
    focus_areas: [
      "complexity of hot paths",
      "input and output per operation",
      "caching and its invalidation",
      "memory that only grows",
      "tail latency",
    ],
    standards: ["USE method", "RED method", "Stated budgets for p95 and p99"],
  },
  {
    name: "infrastructure",
    trigger_signals: [
      "infrastructure",
      "deploy",
      "docker",
      "kubernetes",
      "terraform",
      "ci/cd",
      "pipeline",
      "cloud",
      "container",
      "rollback",
      "monitoring",
    ],
    expert_role: {
      title: "Site Reliability Engineer",
      lens: "Asks how it is started, watched, restarted and rolled back at night.",
      prompt_template:
        "Operate {scope} in your mind for a week: a deployment, a full disk, a lost node, a bad release. Say what an operator would miss.",
    },
    focus_areas: [
      "deployment and rollback",
      "health, metrics and logs",
      "configuration and secrets",
      "capacity and limits",
      "recovery after failure",
    ],
    standards: ["The Twelve-Factor App", "CIS Benchmarks", "Service level objectives"],
  },
  {
    name: "cryptographic",
    trigger_signals: ["crypto", "encryption", "cipher", "hash", "signature", "hmac", "certificate", "tls", "key management", "nonce"],
    expert_role: {
      title: "Cryptography Engineer",
      lens: "Trusts only well-known constructions, used as they were meant.",
      prompt_template:
        "List every use of cryptography in {scope}: the primitive, its parameters, where its keys and nonces come from. Judge each against today's advice.",
    },
    focus_areas: [
      "choice of primitives",
      "keys: making, storing, rotating",
      "nonces and randomness",
      "comparison in constant time",
      "certificate checks",
    ],
    standards: ["NIST SP 800-57", "NIST SP 800-131A", "RFC 8446"],
  },
  {
    name: "code-quality",
    trigger_signals: [
      "code quality",
      "refactor",
      "readability",
      "maintainab",
      "duplication",
      "naming",
      "clean code",
      "technical debt",
      "lint",
    ],
    expert_role: {
      title: "Senior Software Engineer",
      lens: "Reads code as its next maintainer, who has never met the author.",
      prompt_template: "Read {scope} from top to bottom. Name what has to be read twice, what is there twice, and what could be deleted.",
    },
    focus_areas: [
      "names and structure",
      "duplication and dead code",
      "size and single purpose",
      "comments that say why",
      "consistency with the surroundings",
    ],
    standards: ["SOLID where it helps", "The project's own conventions"],
  },
  {
    name: "architecture",
    trigger_signals: [
      "architecture",
      "module",
      "dependency",
      "coupling",
      "microservice",
      "layer",
      "design pattern",
      "monolith",
      "boundary",
    ],
    expert_role: {
      title: "Software Architect",
      lens: "Looks at what depends on what, and at what is expensive to change later.",
      prompt_template:
        "Draw the parts of {scope} and the arrows between them. Say which arrow points the wrong way and which decision will be regretted first.",
    },
    focus_areas: [
      "borders between parts",
      "direction of dependencies",
      "decisions that are hard to reverse",
      "fit to the stated requirements",
      "simplicity",
    ],
    standards: ["ISO/IEC 25010", "Architecture decision records", "C4 model"],
  },
  {
    name: "testing",
    trigger_signals: ["test", "coverage", "mock", "fixture", "regression", "qa", "flaky", "e2e", "integration test"],
    expert_role: {
      title: "Test Engineer",
      lens: "Asks which bug each test would catch, and which bug none would.",
      prompt_template:
        "For each promise of {scope}, find the test that fails when it is broken. Name promises without one, and tests that cannot fail.",
    },
    focus_areas: [
      "promises without a test",
      "tests that cannot fail",
      "edges and failure paths",
      "determinism and speed",
      "realism of stand-ins",
    ],
    standards: ["Test pyramid", "Property-based testing for invariants"],
  },
  {
    name: "error-handling",
    trigger_signals: ["error", "exception", "failure", "fallback", "timeout", "resilience", "circuit breaker", "recovery", "crash"],
    expert_role: {
      title: "Reliability Engineer",
      lens: "Breaks each step in turn and looks at what the user then sees.",
      prompt_template: "Take each call in {scope} that can fail. Say what happens when it does, when it hangs, and when it half succeeds.",
    },
    focus_areas: ["swallowed errors", "timeouts and cancellation", "cleaning up after failure", "messages that help", "partial success"],
    standards: ["Fail fast, fail loudly", "Bounded retries with backoff"],
  },
  {
    name: "concurrency",
    trigger_signals: ["concurren", "race condition", "deadlock", "lock", "mutex", "thread", "parallel", "atomic", "synchron"],
    expert_role: {
      title: "Concurrency Engineer",
      lens: "Stops every actor at the worst moment and lets the others go on.",
      prompt_template: "Name the shared state in {scope} and who changes it. Interleave them at the worst points and say what breaks.",
    },
    focus_areas: [
      "shared state and its owner",
      "check-then-act gaps",
      "lock order",
      "cancellation in the middle",
      "fairness and starvation",
    ],
    standards: ["Happens-before reasoning", "Linearizability where it is claimed"],
  },
  {
    name: "types-typescript",
    trigger_signals: ["typescript", "type safety", "types", "generic", "any type", "interface", "zod", "tsconfig", "strict mode"],
    expert_role: {
      title: "TypeScript Engineer",
      lens: "Wants impossible states not to compile, and foreign data to be parsed.",
      prompt_template:
        "Look in {scope} for types that promise more than the code keeps: casts, optional fields that are never absent, data taken over unchecked.",
    },
    focus_areas: [
      "casts and any",
      "parsing at the borders",
      "unions that exclude impossible states",
      "null and undefined",
      "public types as a contract",
    ],
    standards: ["TypeScript strict mode", "Parse, don't validate"],
  },
  {
    name: "frontend",
    trigger_signals: ["frontend", "react", "vue", "css", "browser", "component", "ui state", "rendering", "bundle", "dom"],
    expert_role: {
      title: "Frontend Engineer",
      lens: "Uses the page on a slow phone, with a keyboard, and with a bad network.",
      prompt_template: "Load {scope} on a slow device and a failing network. Say what the user waits for, loses, or cannot reach.",
    },
    focus_areas: [
      "state and its source of truth",
      "loading, empty and error states",
      "accessibility",
      "size and rendering cost",
      "browser differences",
    ],
    standards: ["WCAG 2.2 AA", "Core Web Vitals"],
  },
  {
    name: "data-integrity",
    trigger_signals: [
      "data integrity",
      "consistency",
      "validation",
      "corruption",
      "backup",
      "idempoten",
      "reconcil",
      "audit trail",
      "duplicate",
    ],
    expert_role: {
      title: "Data Integrity Engineer",
      lens: "Asks of every fact where its one true copy is, and who would notice a wrong one.",
      prompt_template:
        "Name each fact that {scope} keeps in more than one place. Say how copies drift apart, who notices, and how it is mended.",
    },
    focus_areas: [
      "validation at entry",
      "invariants and who enforces them",
      "copies and their reconciliation",
      "backup and restore",
      "traceability of changes",
    ],
    standards: ["ALCOA+", "Constraints in the store, not only in code"],
  },
];
