import {
  TEMPLATE_NAMES,
  type TemplateName,
  type TemplateShare,
  type ToolkitPolicy,
} from '../../contract/policy.ts';

export interface Template extends TemplateShare {
  readonly name: TemplateName;
  readonly doc: string;
}

const DOCS: Readonly<Record<TemplateName, string>> = {
  safe_default:
    'Public posts, messages, ads and compliance changes require approval; likes, follows and reposts are allowed within limits.',
  growth_aggressive: 'Only deletions require approval; twice as many changes per hour.',
  agency_mode: 'Only deletions require approval; daily limits, as agencies plan.',
  none: 'Your own rules, lists and limits only.',
};

/** A template is the sum of what the toolkits put into it. */
export function templateOf(name: TemplateName, toolkits: readonly ToolkitPolicy[]): Template {
  const shares = toolkits.flatMap(({ templates }) => templates?.[name] ?? []);
  return {
    name,
    doc: DOCS[name],
    rules: shares.flatMap(({ rules }) => rules),
    limits: shares.flatMap(({ limits }) => limits),
  };
}

export const templatesOf = (toolkits: readonly ToolkitPolicy[]): readonly Template[] =>
  TEMPLATE_NAMES.map((name) => templateOf(name, toolkits));
