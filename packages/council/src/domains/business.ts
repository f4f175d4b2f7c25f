import type { Domain } from "./domain.ts";

/** Domains of business. */
export const business: readonly Domain[] = [
  {
    name: "finance",
    trigger_signals: ["finance", "financial", "cost", "budget", "revenue", "pricing", "invoice", "billing", "payment", "tax"],
    expert_role: {
      title: "Financial Analyst",
      lens: "Follows the money, its timing and its risk.",
      prompt_template:
        "Put numbers to {scope}: what it costs, what it earns, when, and what has to be true for that. Mark every number that is a guess.",
    },
    focus_areas: [
      "costs, one-off and running",
      "revenue assumptions",
      "cash timing",
      "sensitivity to the main assumption",
      "controls over money",
    ],
    standards: ["IFRS / GAAP basics", "Discounted cash flow", "Segregation of duties"],
  },
  {
    name: "product",
    trigger_signals: ["product", "feature", "user story", "roadmap", "requirement", "mvp", "customer need", "prioriti", "adoption"],
    expert_role: {
      title: "Product Manager",
      lens: "Asks who has the problem, how badly, and how we would know that it is gone.",
      prompt_template:
        "State the problem that {scope} solves and for whom. Say what is missing for that person and what could be left out.",
    },
    focus_areas: [
      "the problem and its owner",
      "scope and what to leave out",
      "measure of success",
      "order of delivery",
      "edge cases of real use",
    ],
    standards: ["Jobs to be done", "Outcome over output"],
  },
  {
    name: "strategy",
    trigger_signals: [
      "strategy",
      "strategic",
      "competit",
      "market position",
      "vision",
      "long-term",
      "positioning",
      "differentiation",
      "moat",
    ],
    expert_role: {
      title: "Strategy Advisor",
      lens: "Asks what must be true, and what others will do about it.",
      prompt_template:
        "Name the bet in {scope}, what must be true for it to pay, and how competitors answer. Say what would make you change your mind.",
    },
    focus_areas: ["the underlying bet", "alternatives not taken", "answers of competitors", "reversibility", "fit to strengths"],
    standards: ["Five forces", "Pre-mortem"],
  },
  {
    name: "marketing",
    trigger_signals: ["marketing", "campaign", "audience", "seo", "conversion", "funnel", "messaging", "launch", "growth"],
    expert_role: {
      title: "Marketing Lead",
      lens: "Hears the message as somebody who has three seconds and no interest.",
      prompt_template:
        "Say whom {scope} talks to, what they hear, and why they would act. Find claims that are not proven and steps where people leave.",
    },
    focus_areas: ["audience and its language", "one clear message", "channels and cost", "steps of the funnel", "proof of claims"],
    standards: ["AIDA", "Truth in advertising rules"],
  },
  {
    name: "operations",
    trigger_signals: ["operations", "process", "workflow", "logistics", "supply", "staffing", "procedure", "handover", "bottleneck"],
    expert_role: {
      title: "Operations Manager",
      lens: "Walks the process as it is on a bad day.",
      prompt_template:
        "Walk through {scope} step by step with the people who do it. Find the waiting, the rework, and what hangs on one person.",
    },
    focus_areas: ["steps and their owners", "bottlenecks", "handovers", "single points of failure", "measures and feedback"],
    standards: ["Lean", "ISO 9001 process thinking"],
  },
  {
    name: "compliance",
    trigger_signals: ["compliance", "gdpr", "regulation", "legal", "privacy", "hipaa", "sox", "pci", "consent", "retention policy"],
    expert_role: {
      title: "Compliance Officer",
      lens: "Asks which rule applies, and what evidence would show that it is kept.",
      prompt_template:
        "List the rules that bind {scope}. For each: met, not met or not known, with the evidence that an auditor would want.",
    },
    focus_areas: [
      "applicable rules",
      "personal data and its lawful basis",
      "retention and deletion",
      "evidence and records",
      "third parties",
    ],
    standards: ["GDPR", "SOC 2", "PCI DSS 4"],
  },
  {
    name: "analytics",
    trigger_signals: ["analytics", "metric", "kpi", "dashboard", "a/b test", "tracking", "data analysis", "statistic", "report"],
    expert_role: {
      title: "Data Analyst",
      lens: "Asks how the number came about and what else could explain it.",
      prompt_template:
        "Take each number in {scope}: its definition, source and error. Say what it cannot show, and what decision hangs on it.",
    },
    focus_areas: [
      "definitions of measures",
      "quality and bias of data",
      "causes against coincidence",
      "sample size",
      "decisions that follow",
    ],
    standards: ["Pre-registered hypotheses", "Confidence intervals"],
  },
];
