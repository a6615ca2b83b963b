import type { Principal } from '../../../contract/principal.ts';
import type { Pace } from '../analysis/pace.ts';
import { noSource, noText } from '../project/checks.ts';
import { isAgentOwner, publicMemo } from '../project/memo.ts';
import { shownName } from '../project/source-text.ts';
import type { Coding, ProjectReader, Source, SourceText } from '../project/types.ts';
import { maskRange, type Replacement, type ShownText, showText } from './pseudonyms.ts';
import type { PrivacyRules } from './rules.ts';
import { withoutHiddenQuotes } from './stored-quotes.ts';

/** The project as one caller may see it. */
export interface PrivacyView {
  /** Without sources off limits, private memos and coders whom the researcher hid; texts are the original ones. */
  readonly reader: ProjectReader;
  /** True when names are replaced in what this caller reads. */
  readonly masked: boolean;
  mask(text: string): string;
  unmask(text: string, other?: (words: string) => string): string;
  /** Names that this caller may not see. */
  readonly hidden: readonly string[];
  /** A text that may hold a private part, such as a memo that waits in the queue: without it, names replaced. */
  tell(text: string): string;
  /** Throws `source_not_found`, also for a source off limits: its existence is not for agents either. */
  source(id: number): Source;
  text(id: number): SourceText;
  /** The text to search in: names as the caller knows them, so no search reveals the others. Does not keep other work waiting. */
  shownInSlices(id: number, pace: Pace): Promise<ShownText>;
  passage(
    id: number,
    start: number,
    end: number,
  ): { readonly content: string; readonly replacements: readonly Replacement[] };
  codingText(coding: Coding): string;
}

/** People see everything. Agents, and the system working for them, see what the rules leave. */
export function privacyViewFor(
  principal: Principal,
  reader: ProjectReader,
  rules: PrivacyRules,
): PrivacyView {
  return principal.kind === 'person' ? personPrivacyView(reader) : agentPrivacyView(reader, rules);
}

export const personPrivacyView = (reader: ProjectReader): PrivacyView =>
  makePrivacyView(reader, undefined, (memo) => memo);

function agentPrivacyView(reader: ProjectReader, rules: PrivacyRules): PrivacyView {
  const restricted = restrict(reader, rules.offLimits, (text) => rules.pseudonymiser.mask(text));
  const isHidden = hiddenSource(reader, rules);
  return makePrivacyView(restricted, rules.pseudonymiser.active ? rules : undefined, (text) =>
    withoutHiddenQuotes(publicMemo(text), isHidden),
  );
}

/** Whether a source is off limits, by its name as agents are shown it. */
function hiddenSource(reader: ProjectReader, { offLimits, pseudonymiser }: PrivacyRules) {
  let names: ReadonlySet<string> | undefined;
  return (name: string): boolean => {
    names ??= new Set(
      [...offLimits]
        .flatMap((id) => reader.source(id)?.name ?? [])
        .flatMap((hidden) => [hidden, pseudonymiser.mask(hidden)]),
    );
    return names.has(name);
  };
}

function makePrivacyView(
  reader: ProjectReader,
  rules: PrivacyRules | undefined,
  open: (memo: string) => string,
): PrivacyView {
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
  const passage = (id: number, start: number, end: number) => {
    const whole = text(id);
    return maskRange(whole, rules?.pseudonymiser.spansNear(whole, start, end) ?? [], start, end);
  };
  const mask = (value: string) => rules?.pseudonymiser.mask(value) ?? value;
  return {
    reader,
    masked: rules !== undefined,
    mask,
    tell: (value) => mask(open(value)),
    unmask: (value, other) => rules?.pseudonymiser.unmask(value, other) ?? value,
    hidden: rules?.pseudonymiser.hidden ?? [],
    source,
    text,
    shownInSlices: async (id, pace) => {
      await reader.loadText(id);
      const whole = text(id);
      return showText(whole, (await rules?.pseudonymiser.spansInSlices(whole, pace)) ?? [], pace);
    },
    passage,
    codingText: (coding) =>
      coding.anchored ? passage(coding.sourceId, coding.start, coding.end).content : mask(coding.text),
  };
}

function restrict(
  reader: ProjectReader,
  offLimits: ReadonlySet<number>,
  mask: (text: string) => string,
): ProjectReader {
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
  const cutSource = (item: Source): Source => cut({ ...item, name: shownName(item.name) });
  /** A case of which only sources off limits are known does not exist either. */
  const hiddenCases = (): ReadonlySet<number> => {
    if (offLimits.size === 0) return new Set();
    const texts = reader.caseTexts();
    const seen = new Set(texts.filter(open).map(({ caseId }) => caseId));
    return new Set(texts.flatMap(({ caseId }) => (seen.has(caseId) ? [] : [caseId])));
  };
  return {
    info: () => cut(reader.info()),
    sources: () =>
      reader
        .sources()
        .filter(({ id }) => !offLimits.has(id))
        .map(cutSource),
    source: (id) => {
      const item = offLimits.has(id) ? undefined : reader.source(id);
      return item && cutSource(item);
    },
    text: (id) => (offLimits.has(id) ? undefined : reader.text(id)),
    loadText: async (id) => (offLimits.has(id) ? undefined : reader.loadText(id)),
    loadLongTexts: () => reader.loadLongTexts(),
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
    cases: () => {
      const gone = hiddenCases();
      return reader
        .cases()
        .filter(({ id }) => !gone.has(id))
        .map(cut);
    },
    caseTexts: () => reader.caseTexts().filter(open).map(cut),
    // Agents filter by names and values; masked here already, so that no filter confirms a guess.
    attributeTypes: () => reader.attributeTypes().map((type) => cut({ ...type, name: mask(type.name) })),
    attributes: () => {
      const gone = hiddenCases();
      return reader
        .attributes()
        .filter(({ scope, targetId }) => scope !== 'file' || !offLimits.has(targetId))
        .filter(({ scope, targetId }) => scope !== 'case' || !gone.has(targetId))
        .map((item) => ({ ...item, name: mask(item.name), value: mask(item.value) }));
    },
    // A journal is the researcher's diary and has no public part; agents see what agents wrote.
    journals: () => reader.journals().filter(({ owner }) => isAgentOwner(owner) && !isHidden(owner)),
    coders: () => reader.coders().filter((coder) => coder.visible),
  };
}
