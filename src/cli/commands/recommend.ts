import type { GlobalOptions } from '../../contract/command.ts';
import type { ArgumentPredicate, StandingDraft } from '../../contract/standing.ts';
import type { Recommendation } from '../../kernel/views/policy-shapes.ts';
import { recommend } from '../../kernel/views/recommend.ts';
import { print, printJson } from '../../terminal/output.ts';
import { counted, plainText } from '../../terminal/text.ts';
import { withApp } from '../context.ts';

/** Prints what people always decided the same way, with the command or the rule that would answer it. */
export function recommendPolicy(global: GlobalOptions): Promise<void> {
  return withApp(global, async (app) => {
    const { kernel, database, inventory } = app;
    const data = await recommend({
      database,
      standing: kernel.standing,
      signersFor: kernel.signersFor,
      resolve: (name) => inventory.resolve(name),
      now: app.now(),
    });
    if (global.json) return printJson(data);
    const { recommendations, looked_at: seen } = data;
    if (recommendations.length === 0)
      return print(
        `No recommendations. Read ${counted(seen, 'decision')} of the last 90 days; a recommendation needs at least 10 identical decisions about one agent and tool.`,
      );
    print(recommendations.map(describe).join('\n\n'));
    print('\nNothing was saved.');
  });
}

function describe({ kind, title, sentence, evidence, draft, rule }: Recommendation): string {
  const { asked, approved, rejected, approvals } = evidence;
  const verdict =
    kind === 'standing' ? `${approved} of ${asked} approved as asked` : `${rejected} of ${asked} rejected`;
  return [
    plainText(sentence),
    `  Evidence: ${verdict}; the last is approval ${approvals[0]}: ${plainText(title)}`,
    ...(draft ? [`  Save it: ${commandFor(draft)}`] : []),
    ...(rule ? [`  Save it: add to [mcp_policy] rules = [${toToml(rule)}]`] : []),
  ].join('\n');
}

const commandFor = ({ agent, tool, predicates, uses }: StandingDraft): string =>
  [
    `countersign approvals standing add --agent ${agent.replace(/^agent:/u, '')} --tool ${tool} --uses ${uses}`,
    ...predicates.map((one) => `--where ${quoteForShell(whereOf(one))}`),
    '--yes',
  ].join(' ');

const quoteForShell = (text: string): string =>
  /^[\w:.,-]+$/u.test(text) ? text : `'${plainText(text).replaceAll("'", String.raw`'\''`)}'`;

function whereOf(predicate: ArgumentPredicate): string {
  const { arg, op } = predicate;
  switch (op) {
    case 'equals':
      return `${arg}:equals:${JSON.stringify(predicate.value)}`;
    case 'one_of':
      return `${arg}:one_of:${JSON.stringify(predicate.values)}`;
    case 'starts_with':
      return `${arg}:starts_with:${predicate.text}`;
    case 'at_most':
      return `${arg}:at_most:${predicate.number}`;
    case 'links_only':
      return `${arg}:links_only:${predicate.hosts.join(',')}`;
    case 'any':
      return `${arg}:any`;
    default:
      return predicate satisfies never;
  }
}

const toToml = (rule: object): string =>
  `{ ${Object.entries(rule)
    .map(([key, value]) => `${key} = ${JSON.stringify(value)}`)
    .join(', ')} }`;
