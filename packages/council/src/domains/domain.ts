/**
 * One field of knowledge and its expert. `prompt_template` may contain the placeholders {scope}, {context_summary},
 * {focus_areas} and {standards}.
 */
export interface Domain {
  name: string;
  /** Words and phrases in lower case that indicate this domain. */
  trigger_signals: readonly string[];
  expert_role: { title: string; lens: string; prompt_template: string };
  focus_areas: readonly string[];
  standards: readonly string[];
}
