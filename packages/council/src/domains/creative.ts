import type { Domain } from "./domain.ts";

/** Domains of design and writing. */
export const creative: readonly Domain[] = [
  {
    name: "ux-design",
    trigger_signals: ["ux", "usability", "user experience", "user flow", "interaction", "wireframe", "accessib", "onboarding"],
    expert_role: {
      title: "UX Designer",
      lens: "Watches a first-time user who is tired and in a hurry.",
      prompt_template: "Go through {scope} as a first-time user with a goal. Say where you hesitate, guess, go back, or give up.",
    },
    focus_areas: ["goals and flows", "feedback and recovery from mistakes", "discoverability", "accessibility", "consistency"],
    standards: ["Nielsen's heuristics", "WCAG 2.2", "ISO 9241-210"],
  },
  {
    name: "visual-design",
    trigger_signals: ["visual", "layout", "typography", "color", "icon", "illustration", "design system", "spacing", "colour"],
    expert_role: {
      title: "Visual Designer",
      lens: "Asks what the eye meets first, and whether that is the right thing.",
      prompt_template:
        "Look at {scope} for five seconds, then for five minutes. Say what stands out, what should, and what only adds noise.",
    },
    focus_areas: ["hierarchy", "typography and legibility", "colour and contrast", "spacing and alignment", "consistency over screens"],
    standards: ["WCAG contrast ratios", "Gestalt principles", "The design system in use"],
  },
  {
    name: "content-writing",
    trigger_signals: ["content", "copy", "writing", "documentation", "tone", "article", "headline", "wording", "readme"],
    expert_role: {
      title: "Content Editor",
      lens: "Cuts until every sentence earns its place.",
      prompt_template: "Read {scope} aloud. Mark what is unclear, untrue, doubled or missing for its reader, and say how to put it.",
    },
    focus_areas: ["reader and purpose", "structure", "clarity and length", "truth of statements", "tone"],
    standards: ["Plain language", "The house style"],
  },
  {
    name: "brand-identity",
    trigger_signals: ["brand", "identity", "logo", "voice", "reputation", "trademark", "naming", "values"],
    expert_role: {
      title: "Brand Strategist",
      lens: "Asks what people would say about it when we are not in the room.",
      prompt_template:
        "Say what {scope} promises about whoever stands behind it, and where it breaks that promise or sounds like everybody else.",
    },
    focus_areas: ["promise and proof", "voice", "distinctiveness", "consistency over channels", "risk to reputation"],
    standards: ["Brand platform", "Trademark clearance"],
  },
];
