import type { AuditTrail } from './trail.ts';

const OPENED =
  'A source counts as opened when it was requested individually. Searches count as reads and cover every source that was not closed to the searcher.';

/** The trail as text for a methods section: what was done, by whom, who decided, and how it can be checked. */
export function renderAuditTrail(trail: AuditTrail, program: string): string {
  return [
    `# Use of AI agents in the analysis of “${trail.project.name}”`,
    overview(trail, program),
    decisions(trail),
    safeguards(trail),
    table(
      ['Who', 'Calls', 'Reads', 'Sources opened', 'Changes', 'Suggestions', 'Decisions', 'Refused'],
      trail.actors.map((actor) => [
        actor.clients.length ? `${actor.principal} (${actor.clients.join(', ')})` : actor.principal,
        ...[
          actor.calls,
          actor.reads,
          actor.sources_read,
          actor.changes,
          actor.suggestions,
          actor.decisions,
          actor.refused,
        ],
      ]),
      '## Who did what',
    ),
    trail.actors.length ? OPENED : '',
    table(
      ['Suggested', 'Total', 'Approved', 'Rejected', 'Pending', 'Failed'],
      trail.suggestions.map((row) => [
        row.kind,
        row.total,
        row.approved,
        row.rejected,
        row.pending,
        row.failed,
      ]),
      '## Suggestions and decisions',
    ),
    table(
      ['Coder', 'Kind', 'Codings'],
      trail.codings_by_coder.map(({ coder, kind, count }) => [coder, kind, count]),
      '## Codings in the project by coder',
    ),
    table(
      ['Suggestion', 'Reason', 'Feedback'],
      trail.rejection_reasons.map((row) => [row.suggestion, row.reason, row.feedback]),
      '## Why suggestions were rejected',
    ),
    trail.checkpoint ? `## Checkpoint of the audit log\n\n\`\`\`\n${trail.checkpoint.trim()}\n\`\`\`` : '',
  ]
    .filter(Boolean)
    .join('\n\n')
    .concat('\n');
}

function overview(trail: AuditTrail, program: string): string {
  const agents = trail.actors.filter(({ kind }) => kind === 'agent');
  const people = trail.actors.filter(({ kind }) => kind === 'person');
  const { from, until } = trail.period;
  const [first, last] = [from?.slice(0, 10), until?.slice(0, 10)];
  const when = !first || !last ? 'So far' : first === last ? `On ${first}` : `Between ${first} and ${last}`;
  const { project } = trail;
  const reads = agents.reduce((sum, { reads: count }) => sum + count, 0);
  return [
    `The material consists of ${count(project.sources, 'source')}, coded with ${count(project.codes, 'code')} in ${count(project.codings, 'text segment')} (QualCoder project, format ${project.format_version}, created ${project.created_at}).`,
    `${when}, ${count(agents.length, 'AI agent')} and ${count(people.length, 'person', 'people')} worked on it through ${program}, which records every call.`,
    agents.length
      ? `The agents made ${count(reads, 'recorded read')} of project data.`
      : 'No AI agent took part.',
    trail.methods.length
      ? `Suggestions that were applied came from: ${trail.methods.map(({ method, changes }) => `${method} (${changes})`).join(', ')}; all others from the agents named below.`
      : '',
  ]
    .filter(Boolean)
    .join(' ');
}

function decisions(trail: AuditTrail): string {
  const sum = (field: 'total' | 'approved' | 'rejected' | 'pending') =>
    trail.suggestions.reduce((all, row) => all + row[field], 0);
  const total = sum('total');
  const share = total ? ` (${Math.round((sum('approved') * 100) / total)} %)` : '';
  const { approved, unapproved, unknown } = trail.agent_codings;
  const asked = trail.asked_first;
  return [
    `Agents filed ${count(total, 'suggestion')}; people approved ${sum('approved')}${share}, rejected ${sum('rejected')} and left ${sum('pending')} undecided.`,
    `Of the codings by agents that are in the project, ${approved} ${approved === 1 ? 'was' : 'were each'} approved by a person and ${unapproved} ${was(unapproved)} applied under a rule that did not require approval${unknown ? `; ${unknown} ${was(unknown)} made with other programs and ${unknown === 1 ? 'is' : 'are'} not in this record` : ''}.`,
    ...(asked.total
      ? [
          `In addition, agents requested ${count(asked.total, 'change')} that ${asked.total === 1 ? 'requires' : 'require'} approval: ${asked.approved} ${was(asked.approved)} approved, ${asked.rejected} ${was(asked.rejected)} rejected, ${asked.pending} ${asked.pending === 1 ? 'is' : 'are'} undecided${asked.failed ? `, ${asked.failed} failed` : ''}.`,
        ]
      : []),
    `${count(trail.changes.applied, 'recorded change')} of the project remain${trail.changes.applied === 1 ? 's' : ''} applied, ${trail.changes.undone} ${was(trail.changes.undone)} undone.`,
  ].join(' ');
}

function safeguards({ privacy }: AuditTrail): string {
  const parts = ['The private part of memos was withheld from agents.'];
  if (privacy.off_limits_sources)
    parts.push(
      `${count(privacy.off_limits_sources, 'source')} ${privacy.off_limits_sources === 1 ? 'was' : 'were'} closed to agents.`,
    );
  if (privacy.pseudonyms)
    parts.push(
      `${count(privacy.pseudonyms, 'name')} ${privacy.pseudonyms === 1 ? 'was' : 'were'} replaced by pseudonyms in everything agents read.`,
    );
  return parts.join(' ');
}

const was = (number: number): string => (number === 1 ? 'was' : 'were');

const count = (number: number, one: string, many = `${one}s`) => `${number} ${number === 1 ? one : many}`;

function table(
  head: readonly string[],
  rows: readonly (readonly (string | number)[])[],
  title: string,
): string {
  if (rows.length === 0) return '';
  const line = (cells: readonly (string | number)[]) =>
    `| ${cells.map((cell) => String(cell).replace(/\s+/g, ' ').replaceAll('|', '\\|')).join(' | ')} |`;
  return [title, '', line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
