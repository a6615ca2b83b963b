import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import {
  type BootstrapOptions,
  type Coefficient,
  cohen,
  DEFAULT_BOOTSTRAP,
  fleiss,
  krippendorff,
} from './coefficients.ts';
import type { Span } from './frequencies.ts';
import { type Block, mergeBlocks, rateText, type UnitOfAnalysis } from './units.ts';

interface Coder {
  readonly name: string;
  readonly kind: 'person' | 'agent';
}

export interface CodedProject {
  readonly codes: readonly { readonly id: number; readonly name: string }[];
  readonly sources: readonly {
    readonly id: number;
    readonly name: string;
    readonly length: number;
    /** Sentences or turns of the text: the units of analysis, or what is resampled together. */
    readonly units?: readonly Span[];
  }[];
  readonly coders: readonly Coder[];
  readonly codings: readonly ({
    readonly codeId: number;
    readonly sourceId: number;
    readonly owner: string;
  } & Span)[];
}

export interface ReliabilityOptions {
  readonly unit?: UnitOfAnalysis;
  readonly bootstrap?: Partial<BootstrapOptions>;
  /** Also one set of rows per source. */
  readonly perSource?: boolean;
  /** Whether a coder worked on a source. Omitted: anyone who coded anything in it did. */
  readonly took?: (coder: string, sourceId: number) => boolean;
  readonly signal?: AbortSignal;
}

export interface Agreement extends Coefficient {
  /** Null: all codes together, each code and unit being one decision. */
  readonly code: { readonly id: number; readonly name: string } | null;
  readonly source: { readonly id: number; readonly name: string } | null;
  readonly between: 'people' | 'agents' | 'people_and_agents';
  readonly coders: readonly string[];
  readonly measure: 'cohen_kappa' | 'fleiss_kappa' | 'krippendorff_alpha';
}

type Source = CodedProject['sources'][number];
type Code = CodedProject['codes'][number];

/**
 * Agreement per code and source and over all of them: Cohen's kappa for each pair, Fleiss' kappa and Krippendorff's alpha
 * for each group. A scope in which no one of a group used the code gives no row: there is nothing to agree on.
 */
export async function reliability(
  project: CodedProject,
  options: ReliabilityOptions = {},
): Promise<Agreement[]> {
  const bootstrap = { ...DEFAULT_BOOTSTRAP, ...options.bootstrap };
  const unit = options.unit ?? 'character';
  const rated = await rateAll(project, unit, options.took ?? whoCoded(project), options.signal);
  const rows: Agreement[] = [];
  const sources: (Source | null)[] = options.perSource ? [null, ...project.sources] : [null];
  const codes: (Code | null)[] = project.codes.length > 1 ? [null, ...project.codes] : [...project.codes];
  for (const source of sources) {
    for (const code of codes) {
      await yieldToEventLoop(undefined, options.signal ? { signal: options.signal } : undefined);
      const blocks = rated(code, source);
      for (const row of compare(blocks, project.coders, bootstrap)) {
        rows.push({ code, source, ...row });
        await yieldToEventLoop(undefined, options.signal ? { signal: options.signal } : undefined);
      }
    }
  }
  return rows;
}

/** Null stands for all of them. */
type Rated = (code: Code | null, source: Source | null) => readonly Block[];

/** All codes together make so many blocks that each text gives only a few. */
const POOLED_BLOCKS = 6;

async function rateAll(
  project: CodedProject,
  unit: UnitOfAnalysis,
  took: (coder: string, sourceId: number) => boolean,
  signal?: AbortSignal,
): Promise<Rated> {
  const marks = new Map<string, Span[]>();
  for (const coding of project.codings) {
    const key = `${coding.codeId}\n${coding.sourceId}\n${coding.owner}`;
    const list = marks.get(key) ?? [];
    list.push(coding);
    marks.set(key, list);
  }
  const blocks = new Map<string, Block[]>();
  const add = (key: string, rated: readonly Block[]) => {
    const list = blocks.get(key);
    if (list) for (const block of rated) list.push(block);
    else blocks.set(key, [...rated]);
  };
  for (const source of project.sources) {
    await yieldToEventLoop(undefined, signal ? { signal } : undefined);
    const there = project.coders.map(({ name }) => took(name, source.id));
    if (there.filter(Boolean).length < 2) continue;
    for (const code of project.codes) {
      const spans = project.coders.map(({ name }, at) =>
        there[at] ? (marks.get(`${code.id}\n${source.id}\n${name}`) ?? []) : undefined,
      );
      const rated = rateText({ ...source, marks: spans }, unit);
      const few = mergeBlocks(rated, POOLED_BLOCKS);
      add(`${code.id} ${source.id}`, rated);
      add(`${code.id} `, rated);
      add(` ${source.id}`, few);
      add(' ', few);
    }
  }
  return (code, source) => blocks.get(`${code?.id ?? ''} ${source?.id ?? ''}`) ?? [];
}

function whoCoded(project: CodedProject): (coder: string, sourceId: number) => boolean {
  const seen = new Set(project.codings.map(({ owner, sourceId }) => `${owner}\n${sourceId}`));
  return (coder, sourceId) => seen.has(`${coder}\n${sourceId}`);
}

type Row = Omit<Agreement, 'code' | 'source'>;

function* compare(
  blocks: readonly Block[],
  coders: readonly Coder[],
  bootstrap: BootstrapOptions,
): Generator<Row> {
  for (const [a, first] of coders.entries()) {
    for (const [b, second] of coders.entries()) {
      if (b <= a || !used(blocks, [a, b])) continue;
      const between =
        first.kind === second.kind ? (first.kind === 'person' ? 'people' : 'agents') : 'people_and_agents';
      yield {
        between,
        coders: [first.name, second.name],
        measure: 'cohen_kappa',
        ...cohen(blocks, [a, b], bootstrap),
      };
    }
  }
  for (const { between, members } of groups(coders)) {
    if (!used(blocks, members)) continue;
    const names = members.map((at) => coders[at]?.name ?? '');
    const narrowed = blocks.map((block) =>
      block.map(({ weight, values }) => ({ weight, values: members.map((at) => values[at]) })),
    );
    if (members.length > 2) {
      yield {
        between,
        coders: names,
        measure: 'fleiss_kappa',
        ...fleiss(narrowed, members.length, bootstrap),
      };
    }
    yield { between, coders: names, measure: 'krippendorff_alpha', ...krippendorff(narrowed, bootstrap) };
  }
}

function groups(coders: readonly Coder[]): { between: Agreement['between']; members: number[] }[] {
  const places = (kind: Coder['kind']) => coders.flatMap((coder, at) => (coder.kind === kind ? [at] : []));
  const people = places('person');
  const agents = places('agent');
  const found: { between: Agreement['between']; members: number[] }[] = [];
  if (people.length > 1) found.push({ between: 'people', members: people });
  if (agents.length > 1) found.push({ between: 'agents', members: agents });
  if (people.length && agents.length) {
    found.push({ between: 'people_and_agents', members: [...people, ...agents] });
  }
  return found;
}

const used = (blocks: readonly Block[], members: readonly number[]): boolean =>
  blocks.some((block) => block.some(({ values }) => members.some((at) => values[at] === 1)));
