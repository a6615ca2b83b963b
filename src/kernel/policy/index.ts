export type { CaseOptions, CaseResult, PolicyCase } from './cases.ts';
export { compilePolicy, type PolicyInput } from './compile.ts';
export { PolicyError, type PolicyProblem } from './error.ts';
export { type ChangedCall, type PastCall, previewRule, type RulePreview } from './preview.ts';
export { TEMPLATES } from './templates.ts';
export type * from './types.ts';
export { unreadablePolicy } from './unreadable.ts';
