import type { Command } from 'commander';
import type { HostOf, ToolkitCommands } from '../../contract/command.ts';

export const commands: ToolkitCommands = { order: 3, add: addResearch };

const approving = (command: Command): Command =>
  command.option('--approve', 'if approval is required, approve immediately');

function addResearch(program: Command, host: HostOf): void {
  const project = () => import('./cli/project.ts');
  const research = program
    .command('research')
    .description('Work on qualitative research projects in QualCoder format');
  approving(research.command('create <path>'))
    .description('Create a project that QualCoder can also open')
    .option('--memo <text>', 'what the project is about')
    .option('--coder <name>', 'your coder name in the project')
    .action(async (path, options, command) => (await project()).createProject(host(command), path, options));
  approving(research.command('open <path>'))
    .description('Open a .qda project for you and your agents')
    .action(async (path, options, command) => (await project()).openProject(host(command), path, options));
  approving(research.command('close'))
    .description('Close the project')
    .action(async (options, command) => (await project()).closeProject(host(command), options));
  research
    .command('status')
    .description('Show the open project and its pending suggestions')
    .action(async (_options, command) => (await project()).projectStatus(host(command)));
  research
    .command('sources')
    .description('List the sources of the project')
    .action(async (_options, command) => (await project()).listSources(host(command)));
  research
    .command('codebook')
    .description('Show the codes as a tree')
    .option('--memos', 'include memos')
    .action(async (options, command) => (await project()).codebook(host(command), options));
  addExchange(research, host);
  addChanges(research, host);
  addStatistics(research, host);
  addPrivacy(research, host);
}

function addExchange(research: Command, host: HostOf): void {
  const load = () => import('./cli/exchange.ts');
  approving(research.command('import <files...>'))
    .description(
      'Import txt, md, docx, pdf, srt, vtt or csv (survey) files, or one qdpx, sqlite3 (Taguette) or qdc file',
    )
    .action(async (files, options, command) => (await load()).importFiles(host(command), files, options));
  research
    .command('export [file]')
    .description('Export the project, its codebook or its coded segments')
    .addOption(
      research
        .createOption('--format <format>', 'file format')
        .choices(['qdpx', 'qdc', 'csv', 'xlsx', 'html', 'md']),
    )
    .addOption(
      research
        .createOption('--content <what>', 'content of a csv, xlsx, html or md file')
        .choices(['segments', 'codebook']),
    )
    .option('--private-memos', 'include the private part of memos')
    .option('--no-media', 'omit recordings, images and PDF files from qdpx')
    .option('--force', 'overwrite an existing file')
    .action(async (file, options, command) => (await load()).exportProject(host(command), file, options));
}

function addChanges(research: Command, host: HostOf): void {
  const undoing = () => import('./cli/undo.ts');
  const report = () => import('./cli/report.ts');
  research
    .command('changes')
    .description('List changes, newest first')
    .option('--limit <n>', 'maximum number of rows', '20')
    .action(async (options, command) => (await undoing()).listChanges(host(command), options));
  approving(research.command('undo [change]'))
    .description('Undo the last change, or one by number')
    .option('--call <id>', 'undo the changes of this call')
    .action(async (change, options, command) => (await undoing()).undo(host(command), change, options));
  research
    .command('audit-trail [file]')
    .description('Report what agents and people did, for a methods section')
    .option('--force', 'overwrite an existing file')
    .action(async (file, options, command) => (await report()).auditTrail(host(command), file, options));
  research
    .command('mcp-json [place]')
    .description('Write an .mcp.json that connects agents to the server')
    .action(async (place, _options, command) => (await report()).mcpJson(host(command), place));
}

function addStatistics(research: Command, host: HostOf): void {
  const load = () => import('./cli/statistics.ts');
  research
    .command('agreement')
    .description('Show how far coders (people and agents) agree, with intervals')
    .addOption(
      research
        .createOption('--unit <unit>', 'unit to compare')
        .choices(['character', 'segment'])
        .default('character'),
    )
    .option('--per-source', 'add rows for each source')
    .action(async (options, command) => (await load()).agreement(host(command), options));
  research
    .command('frequencies')
    .description('Show how often each code is used')
    .action(async (_options, command) => (await load()).frequencies(host(command)));
  research
    .command('cooccurrence')
    .description('Show which codes co-occur')
    .option('--limit <n>', 'maximum number of pairs', '50')
    .action(async (options, command) => (await load()).coOccurrence(host(command), options));
  research
    .command('matrix')
    .description('Show codes by cases')
    .option('--characters', 'count characters instead of segments')
    .action(async (options, command) => (await load()).caseMatrix(host(command), options));
}

function addPrivacy(research: Command, host: HostOf): void {
  const load = () => import('./cli/privacy.ts');
  const limits = research.command('off-limits').description('Manage sources that agents cannot read');
  limits
    .command('list', { isDefault: true })
    .description('List the sources that agents cannot read')
    .action(async (_options, command) => (await load()).listOffLimits(host(command)));
  for (const closed of [true, false]) {
    approving(limits.command(closed ? 'add <source>' : 'remove <source>'))
      .description(closed ? 'Hide a source from agents, by ID or name' : 'Let agents read a source again')
      .action(async (source, options, command) =>
        (await load()).setOffLimits(host(command), source, closed, options),
      );
  }
  const names = research
    .command('pseudonyms')
    .description('Manage pseudonyms that replace names in what agents read');
  names
    .command('list', { isDefault: true })
    .description('List names and their pseudonyms')
    .action(async (_options, command) => (await load()).listPseudonyms(host(command)));
  approving(names.command('set <name> <pseudonym>'))
    .description('Replace a name with a pseudonym in what agents read')
    .option('--variant <form...>', 'further forms of the name, such as a nickname')
    .option('--exact', 'replace only the name as written, for a name that is also an ordinary word')
    .action(async (name, pseudonym, options, command) =>
      (await load()).setPseudonym(host(command), name, pseudonym, options),
    );
  approving(names.command('remove <name>'))
    .description('Show agents the original name again')
    .action(async (name, options, command) => (await load()).removePseudonym(host(command), name, options));
}
