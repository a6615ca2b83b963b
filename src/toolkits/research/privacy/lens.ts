import type { Principal } from '../../../contract/principal.ts';
import { publicMemo } from '../lib/memo.ts';
import { noSource, noText } from '../project/checks.ts';
import type { Coding, ProjectReader, Source, SourceText } from '../project/types.ts';
import { maskRange, type NameSpan, type Replacement, type ShownText, showText } from './pseudonyms.ts';
import type { PrivacyRules } from './rules.ts';

/** The project as one caller may see it. */
export interface Lens {
  /** Without sources off limits, private memos and coders whom the researcher hid; texts are the original ones. */
  readonly reader: ProjectReader;
  /** How many sources are left out. */
  readonly withheld: number;
  /** True when names are replaced in what this caller reads. */
  readonly masked: boolean;
  mask(text: string): string;
  unmask(text: string, other?: (words: string) => string): string;
  /** Names that this caller is not told. */
  readonly hidden: readonly string[];
  /** A text that may hold a private part, such as a memo that waits in the queue: without it, names replaced. */
  tell(text: string): string;
  /** Throws `source_not_found`, also for a source off limits: its existence is not for agents either. */
  source(id: number): Source;
  text(id: number): SourceText;
  /** The text to search in: names as the caller knows them, so that no search tells the others. */
  shown(id: number): ShownText;
  passage(
    id: number,
    start: number,
    end: number,
  ): { readonly content: string; readonly replacements: readonly Replacement[] };
  codingText(coding: Coding): string;
}

/** People see everything. Agents, and the system working for them, see what the rules leave. */
export function lensFor(principal: Principal, reader: ProjectReader, rules: PrivacyRules): Lens {
  return principal.kind === 'person' ? personLens(reader) : agentLens(reader, rules);
}

export const personLens = (reader: ProjectReader): Lens => makeLens(reader, 0, undefined, (memo) => memo);

function agentLens(reader: ProjectReader, rules: PrivacyRules): Lens {
  const restricted = restrict(reader, rules.offLimits);
  const withheld = rules.offLimits.size && reader.sources().length - restricted.sources().length;
  return makeLens(restricted, withheld, rules.pseudonymiser.active ? rules : undefined, publicMemo);
}

function makeLens(
  reader: ProjectReader,
  withheld: number,
  rules: PrivacyRules | undefined,
  open: (memo: string) => string,
): Lens {
  const found = new Map<number, readonly NameSpan[]>();
  const source = (id: number) => {
    const item = reader.source(id);
    if (!item) throw noSource(id);
    return item;
  };
  const text = (id: number) => {
    const item = reader.text(id);
    if (item) return item;
    throw reader.source(id) ? noText(id) : noSource(id);
  };
  const spansOf = (id: number, of: SourceText) => {
    const spans = found.get(id) ?? rules?.pseudonymiser.spans(of) ?? [];
    found.set(id, spans);
    return spans;
  };
  const passage = (id: number, start: number, end: number) => {
    const whole = text(id);
    return maskRange(whole, spansOf(id, whole), start, end);
  };
  const mask = (value: string) => rules?.pseudonymiser.mask(value) ?? value;
  return {
    reader,
    withheld,
    masked: rules !== undefined,
    mask,
    tell: (value) => mask(open(value)),
    unmask: (value, other) => rules?.pseudonymiser.unmask(value, other) ?? value,
    hidden: rules?.pseudonymiser.hidden ?? [],
    source,
    text,
    shown: (id) => {
      const whole = text(id);
      return showText(whole, spansOf(id, whole));
    },
    passage,
    codingText: (coding) =>
      coding.anchored ? passage(coding.sourceId, coding.start, coding.end).content : mask(coding.text),
  };
}

function restrict(reader: ProjectReader, offLimits: ReadonlySet<number>): ProjectReader {
  let hidden: ReadonlySet<string> | undefined;
  const isHidden = (owner: string) => {
    hidden ??= new Set(reader.coders().flatMap((coder) => (coder.visible ? [] : [coder.name])));
    return hidden.has(owner);
  };
  const open = (item: { readonly sourceId: number }) => !offLimits.has(item.sourceId);
  const visible = (item: { readonly sourceId: number; readonly owner: string }) =>
    open(item) && !isHidden(item.owner);
  const leftOut = () => ({
    sources: [...offLimits],
    owners: reader.coders().flatMap((coder) => (coder.visible ? [] : [coder.name])),
  });
  const cut = <T extends { readonly memo: string }>(item: T): T => ({ ...item, memo: publicMemo(item.memo) });
  return {
    info: () => cut(reader.info()),
    sources: () =>
      reader
        .sources()
        .filter(({ id }) => !offLimits.has(id))
        .map(cut),
    source: (id) => {
      const item = offLimits.has(id) ? undefined : reader.source(id);
      return item && cut(item);
    },
    text: (id) => (offLimits.has(id) ? undefined : reader.text(id)),
    categories: () => reader.categories().map(cut),
    codes: () => reader.codes().map(cut),
    code: (id) => {
      const item = reader.code(id);
      return item && cut(item);
    },
    codingCounts: () => reader.codingCounts(leftOut()),
    sourceCodingCounts: () => reader.sourceCodingCounts(leftOut()),
    codings: (filter) =>
      filter?.sourceId !== undefined && offLimits.has(filter.sourceId)
        ? []
        : reader.codings(filter).filter(visible).map(cut),
    coding: (id) => {
      const item = reader.coding(id);
      return item && visible(item) ? cut(item) : undefined;
    },
    imageCodings: () => reader.imageCodings().filter(visible).map(cut),
    mediaCodings: () => reader.mediaCodings().filter(visible).map(cut),
    annotations: (id) => reader.annotations(id).filter(visible).map(cut),
    cases: () => reader.cases().map(cut),
    caseTexts: () => reader.caseTexts().filter(open).map(cut),
    attributeTypes: () => reader.attributeTypes().map(cut),
    attributes: () =>
      reader.attributes().filter((item) => item.scope !== 'file' || !offLimits.has(item.targetId)),
    // A journal is the researcher's diary and has no public part.
    journals: () => [],
    coders: () => reader.coders().filter((coder) => coder.visible),
  };
}
