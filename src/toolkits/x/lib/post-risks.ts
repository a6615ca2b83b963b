/** What the person who decides on a post may want to look at twice. */
export function postRisks(texts: readonly string[], mediaCount = 0): string[] {
  const risks: string[] = [];
  const all = texts.join('\n');
  if (/https?:\/\//iu.test(all)) risks.push('contains a link');
  const mentions = all.match(/(?<!\w)@\w{1,15}/gu)?.length ?? 0;
  if (mentions > 0) risks.push(`mentions ${mentions} account${mentions === 1 ? '' : 's'}`);
  const hashtags = all.match(/(?<!\w)#\p{L}\w*/gu)?.length ?? 0;
  if (hashtags > 2) risks.push(`has ${hashtags} hashtags`);
  const letters = all.replace(/[^\p{L}]/gu, '');
  if (letters.length >= 20 && letters === letters.toUpperCase() && letters !== letters.toLowerCase()) {
    risks.push('is written in capitals');
  }
  if (mediaCount > 0) risks.push(`carries ${mediaCount} media file${mediaCount === 1 ? '' : 's'}`);
  return risks;
}
