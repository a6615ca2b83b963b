export type { CaseOptions, CaseResult, PolicyCase } from './cases.ts';
export { PolicyError, type PolicyProblem } from './catalogue.ts';
export { compilePolicy, type PolicyInput } from './compile.ts';
export {
  type ChangedCall,
  type PastCall,
  previewRule,
  type RulePreview,
  unreadablePolicy,
} from './preview.ts';
export { templatesOf } from './templates.ts';
export type * from './types.ts';
