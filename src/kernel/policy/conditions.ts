import type { ASTNode, Environment } from '@marcbachmann/cel-js';
import {
  type CompilePattern,
  loadPatterns,
  type Pattern,
  PatternError,
  searchBudget,
} from '../../lib/pattern.ts';
import { closest } from '../../lib/text.ts';
import {
  type Access,
  argumentNames,
  type CelType,
  celType,
  fieldsAt,
  findAccesses,
  findCalls,
  isAlwaysThere,
  mergeTypes,
} from './cel.ts';
import type { PolicySubject } from './types.ts';

/** What a condition sees. `principal.label` is left out: what a client calls itself decides nothing. */
export interface ConditionInput {
  readonly args: unknown;
  readonly tool: {
    readonly name: string;
    readonly toolkit: string;
    readonly category: string;
    readonly effect: string;
    /** The third-party server it belongs to; empty for our own tools. */
    readonly server: string;
  };
  readonly principal: { readonly kind: string; readonly id: string; readonly name: string };
  readonly now: Date;
}

/** Throws when it cannot tell, which denies the call. */
export type Condition = (input: ConditionInput) => boolean;

export interface ConditionCompiler {
  /** The condition, or each thing that is wrong with it for the tools the rule matches. */
  compile(expression: string, subjects: readonly PolicySubject[]): Condition | readonly string[];
}

let loaded: Promise<ConditionCompiler> | undefined;
let compilePattern: CompilePattern | undefined;
/** What the condition that is evaluated now may still search. */
let budget = searchBudget();

/** The CEL library is loaded here and nowhere else: most policies have no condition, and few of them a pattern. */
export async function loadConditions(expressions: readonly string[]): Promise<ConditionCompiler> {
  if (expressions.some((expression) => expression.includes(MATCHES))) compilePattern = await loadPatterns();
  loaded ??= createCompiler();
  return loaded;
}

const MATCHES = 'matches';
/** Stands for `matches`, whose own implementation backtracks and cannot be replaced. As long, so that columns stay the same. */
const LINEAR = 're2find';

async function createCompiler(): Promise<ConditionCompiler> {
  const { Environment: CelEnvironment } = await import('@marcbachmann/cel-js');
  const base = new CelEnvironment({ enableOptionalTypes: true, homogeneousAggregateLiterals: false })
    .registerVariable({ name: 'tool', schema: TOOL_FIELDS })
    .registerVariable({ name: 'principal', schema: PRINCIPAL_FIELDS })
    .registerVariable({ name: 'now', type: 'google.protobuf.Timestamp' })
    .registerFunction(`string.${LINEAR}(string): bool`, (text: string, source: string) =>
      patternOf(source).test(text, budget),
    );
  // Arguments were validated by the tool's own schema; checking their types once more at every call costs half the time.
  const running = base.clone().registerVariable({ name: 'args', type: 'map' });
  return {
    compile(written, subjects) {
      const read = parse(running, written);
      if (typeof read === 'string') return [read];
      const expression = linear(written, read.ast);
      const program = expression === written ? read : parse(running, expression);
      if (typeof program === 'string') return [program];
      const accesses = findAccesses(program.ast);
      const problems = [
        ...checkAccesses(expression, accesses, subjects),
        ...checkPatterns(expression, program.ast),
      ];
      if (problems.length > 0) return problems;
      const typed = accesses.length === 0 ? running : declareArgs(base.clone(), typeOf(accesses, subjects));
      const fault = checkTypes(typed, expression);
      if (fault !== undefined) return [fault];
      return (input) => {
        budget = searchBudget();
        const result: unknown = program(input);
        if (typeof result !== 'boolean') throw new TypeError('the condition is neither true nor false');
        return result;
      };
    },
  };
}

function patternOf(source: string): Pattern {
  if (!compilePattern) throw new PatternError('regular expressions are not loaded');
  return compilePattern(source);
}

function linear(expression: string, ast: ASTNode): string {
  let text = expression;
  for (const { args } of findCalls(ast, MATCHES)) {
    const at = expression.indexOf(MATCHES, args[1].range.end);
    text = text.slice(0, at) + LINEAR + text.slice(at + LINEAR.length);
  }
  return text;
}

/** A pattern that is written out is checked now; one that is computed denies the call where it cannot be used. */
function checkPatterns(expression: string, ast: ASTNode): string[] {
  const left = findCalls(ast, MATCHES).map(
    ({ range }) =>
      `matches() at ${place(expression, range.start)} cannot be read; write .matches( without a comment inside`,
  );
  const invalid = findCalls(ast, LINEAR).flatMap(({ args: [, , [source]] }) => {
    if (source?.op !== 'value' || typeof source.args !== 'string') return [];
    try {
      patternOf(source.args);
      return [];
    } catch (error) {
      if (!(error instanceof PatternError)) throw error;
      return [`the pattern at ${place(expression, source.range.start)} ${error.message}`];
    }
  });
  return [...left, ...invalid];
}

const TOOL_FIELDS = {
  name: 'string',
  toolkit: 'string',
  category: 'string',
  effect: 'string',
  server: 'string',
};
const PRINCIPAL_FIELDS = { kind: 'string', id: 'string', name: 'string' };

const declareArgs = (environment: Environment, type: CelType): Environment =>
  environment.registerVariable(
    typeof type === 'string' ? { name: 'args', type } : { name: 'args', schema: { ...type } },
  );

function parse(environment: Environment, expression: string): ReturnType<Environment['parse']> | string {
  try {
    return environment.parse(expression);
  } catch (error) {
    return describeError(error, expression);
  }
}

/** Only what the expression speaks of: a rule on every change matches a hundred tools with a thousand arguments. */
const typeOf = (accesses: readonly Access[], subjects: readonly PolicySubject[]): CelType => {
  const wanted = new Set(accesses.map(({ path }) => path[0] ?? ''));
  return subjects.map(({ inputJson }) => celType(inputJson, wanted)).reduce(mergeTypes, {});
};

function checkAccesses(
  expression: string,
  accesses: readonly Access[],
  subjects: readonly PolicySubject[],
): string[] {
  if (accesses.length === 0) return [];
  const type = typeOf(accesses, subjects);
  const problems = accesses.flatMap(({ path, position, guarded }) => {
    const access = `args.${path.join('.')}`;
    const where = `at ${place(expression, position)}`;
    const name = path.at(-1) ?? '';
    const siblings = fieldsAt(type, path.slice(0, -1));
    if (!siblings) return [];
    if (!siblings.includes(name)) {
      const known =
        path.length > 1 ? siblings : subjects.flatMap(({ inputJson }) => argumentNames(inputJson));
      const meant = closest(name, known);
      const hint = meant === undefined ? '' : `; did you mean '${meant}'?`;
      return [`no tool of this rule takes ${access} ${where}${hint}`];
    }
    const without = guarded ? undefined : subjects.find(({ inputJson }) => !isAlwaysThere(inputJson, path));
    if (!without) return [];
    return [
      `${access} ${where} may be absent in a call of '${without.name}'; write has(${access}) && … before it`,
    ];
  });
  return [...new Set(problems)];
}

function checkTypes(environment: Environment, expression: string): string | undefined {
  const result = environment.check(expression);
  if (!result.valid) return describeError(result.error, expression);
  const kind = String(result.type);
  if (kind === 'bool' || kind === 'dyn') return undefined;
  return `the condition must be true or false, but it is of type ${kind}`;
}

interface CelFault {
  readonly summary?: string;
  readonly range?: { readonly start: number };
}

function describeError(error: unknown, expression: string): string {
  const { summary, range } = error as CelFault;
  const said = summary ?? (error instanceof Error ? error.message : String(error));
  const what = said.replaceAll(LINEAR, MATCHES);
  const hint = /double \S+ (int|list<int>)|int \S+ double/.test(what)
    ? ' (write integers as 3.0 when mixed with decimals)'
    : '';
  return `${what}${hint}${range ? ` at ${place(expression, range.start)}` : ''}`;
}

/** A condition of one line needs no line number. */
function place(expression: string, offset: number): string {
  const before = expression.slice(0, offset).split('\n');
  const column = `column ${(before.at(-1)?.length ?? 0) + 1}`;
  return expression.includes('\n') ? `line ${before.length}, ${column}` : column;
}
