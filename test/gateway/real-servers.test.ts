import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  connect,
  direct,
  EVERYTHING,
  FILESYSTEM,
  MEMORY,
  openPlace,
  type Place,
  serve,
  stdioServer,
} from './support.ts';

describe('real servers from npm', () => {
  let place: Place;
  let folder: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'countersign-files-'));
    mkdirSync(join(folder, 'sub'));
    writeFileSync(join(folder, 'hello.txt'), 'Hello\nworld\n');
    place = await openPlace(
      [
        stdioServer('everything', EVERYTHING),
        stdioServer('files', FILESYSTEM, folder),
        stdioServer('memory', MEMORY),
        `[servers.memory.env]\nMEMORY_FILE_PATH = ${JSON.stringify(join(folder, 'memory.jsonl'))}\n`,
      ].join('\n'),
    );
    for (const name of ['everything', 'files', 'memory']) await place.trust(name);
  });
  afterAll(async () => {
    await place.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it.each([
    ['everything', EVERYTHING],
    ['files', FILESYSTEM],
    ['memory', MEMORY],
  ])('lists every tool of %s as the server does', async (name, script) => {
    const theirs = await direct(script, ...(name === 'files' ? [folder] : []));
    const gateway = await serve(place.app, [name]);
    const ours = await gateway.connect();
    try {
      const { tools } = await theirs.listTools();
      const listed = (await ours.listTools()).tools.filter((tool) => tool.name.startsWith(`${name}__`));
      const stripped = listed.map((tool) => ({ ...tool, name: tool.name.slice(name.length + 2) }));
      const byName = (a: { name: string }, b: { name: string }) => (a.name < b.name ? -1 : 1);
      expect(stripped.sort(byName)).toEqual([...tools].sort(byName));
      expect(tools.length).toBeGreaterThan(5);
    } finally {
      await theirs.close();
      await ours.close();
      await gateway.close();
    }
  });

  /** Every tool with its arguments; `HERE` is the directory that a call works in. */
  const CALLS: Record<string, [string, Record<string, unknown>][]> = {
    everything: [
      ['echo', { message: 'Grüße 👋' }],
      ['get-sum', { a: 2, b: 3 }],
      ['get-tiny-image', {}],
      ['get-annotated-message', { messageType: 'error', includeImage: true }],
      ['get-structured-content', { location: 'New York' }],
      ['get-resource-links', { count: 3 }],
      ['get-resource-reference', { resourceType: 'Text', resourceId: 1 }],
      ['get-env', {}],
      ['gzip-file-as-resource', { name: 'a.gz', data: 'data:text/plain,hello', outputType: 'resource' }],
      ['toggle-simulated-logging', {}],
      ['toggle-simulated-logging', {}],
      ['toggle-subscriber-updates', {}],
      ['toggle-subscriber-updates', {}],
      ['trigger-long-running-operation', { duration: 0.2, steps: 2 }],
    ],
    files: [
      ['list_allowed_directories', {}],
      ['create_directory', { path: 'HERE/made' }],
      ['write_file', { path: 'HERE/made/a.txt', content: 'one\ntwo\n' }],
      ['edit_file', { path: 'HERE/made/a.txt', edits: [{ oldText: 'two', newText: 'three' }] }],
      ['move_file', { source: 'HERE/made/a.txt', destination: 'HERE/made/b.txt' }],
      ['read_file', { path: 'HERE/made/b.txt' }],
      ['read_text_file', { path: 'HERE/made/b.txt', head: 1 }],
      ['read_media_file', { path: 'HERE/made/b.txt' }],
      ['read_multiple_files', { paths: ['HERE/made/b.txt', 'HERE/none.txt'] }],
      ['list_directory', { path: 'HERE' }],
      ['list_directory_with_sizes', { path: 'HERE/made' }],
      ['directory_tree', { path: 'HERE' }],
      ['search_files', { path: 'HERE', pattern: '*.txt' }],
      ['get_file_info', { path: 'HERE/made/b.txt' }],
    ],
    memory: [
      ['create_entities', { entities: [{ name: 'Ada', entityType: 'person', observations: ['wrote'] }] }],
      ['create_relations', { relations: [{ from: 'Ada', to: 'Ada', relationType: 'is' }] }],
      ['add_observations', { observations: [{ entityName: 'Ada', contents: ['counted'] }] }],
      ['read_graph', {}],
      ['search_nodes', { query: 'Ada' }],
      ['open_nodes', { names: ['Ada'] }],
      ['delete_observations', { deletions: [{ entityName: 'Ada', observations: ['wrote'] }] }],
      ['delete_relations', { relations: [{ from: 'Ada', to: 'Ada', relationType: 'is' }] }],
      ['delete_entities', { entityNames: ['Ada'] }],
    ],
  };
  /** Only a task can call it; tasks.test.ts does. */
  const AS_TASK = ['simulate-research-query'];

  /** What is of the moment or of the directory, and not of the gateway. */
  const comparable = (result: unknown, here: string): unknown =>
    JSON.parse(
      JSON.stringify(result)
        .replaceAll(here, 'HERE')
        .replace(/\b\d{1,2}:\d\d:\d\d( [AP]M)?/g, 'TIME')
        .replace(/(created|modified|accessed): [^\\]*/g, '$1: THEN')
        .replace(/session\/[\w-]+/g, 'session/ID'),
    );

  it.each(['everything', 'files', 'memory'])(
    'calls every tool of %s, with the result of a direct connection',
    async (name) => {
      const script = { everything: EVERYTHING, files: FILESYSTEM, memory: MEMORY }[name] ?? '';
      const [mine, apart] = ['gateway', 'direct'].map((side) => join(folder, `${name}-${side}`)) as [
        string,
        string,
      ];
      for (const dir of [mine, apart]) mkdirSync(dir);
      const env = { ...process.env, MEMORY_FILE_PATH: join(folder, 'direct.jsonl') } as Record<
        string,
        string
      >;
      const theirs = await connect(
        new StdioClientTransport({
          command: process.execPath,
          args: [script, ...(name === 'files' ? [folder] : [])],
          stderr: 'ignore',
          ...(name === 'memory' ? { env } : {}),
        }),
      );
      const gateway = await serve(place.app, [name]);
      const ours = await gateway.connect();
      const fill = (args: Record<string, unknown>, here: string) =>
        JSON.parse(JSON.stringify(args).replaceAll('HERE', here));
      try {
        const listed = (await theirs.listTools()).tools.map((tool) => tool.name);
        const calls = CALLS[name] ?? [];
        expect(
          [...new Set(calls.map(([tool]) => tool)), ...(name === 'everything' ? AS_TASK : [])].sort(),
        ).toEqual(listed.sort());
        for (const [tool, args] of calls) {
          const expected = await theirs.callTool({ name: tool, arguments: fill(args, apart) });
          let got = await ours.callTool({ name: `${name}__${tool}`, arguments: fill(args, mine) });
          const { approval_id: waiting } = (got.structuredContent ?? {}) as { approval_id?: number };
          const [asked] = await place.app.kernel.approvals.list({ states: ['pending'] });
          if (asked && (waiting === asked.id || asked.tool === `${name}__${tool}`)) {
            const { outcome } = await place.app.kernel.approvals.approve(asked.id, place.app.person);
            if (outcome?.status !== 'ok') throw new Error(`${tool}: ${JSON.stringify(outcome)}`);
            got = {
              ...(outcome.data as object),
              _meta: { 'countersign/call_id': 'x', 'countersign/evidence_hash': 'x' },
            } as never;
          }
          const { _meta, ...rest } = got;
          const { _meta: theirMeta = {}, ...theirRest } = expected;
          expect(comparable(rest, mine), tool).toEqual(comparable(theirRest, apart));
          const { 'countersign/call_id': call, 'countersign/evidence_hash': hash, ...left } = _meta ?? {};
          expect(left, tool).toEqual(theirMeta);
          expect([call, hash], tool).not.toContain(undefined);
        }
      } finally {
        await theirs.close();
        await ours.close();
        await gateway.close();
      }
    },
  );

  it('asks for approval where a tool of the filesystem server destroys, and shows the file and its content', async () => {
    const file = join(folder, 'hello.txt');
    const read = await place.call('files__read_text_file', { path: file });
    expect(read.outcome).toMatchObject({
      status: 'ok',
      data: { content: [{ type: 'text', text: 'Hello\nworld\n' }] },
    });
    const write = await place.call('files__write_file', { path: join(folder, 'new.txt'), content: 'x' });
    expect(write.outcome).toMatchObject({ status: 'routed', rule: 'hard:destroy_approval' });
    if (write.outcome.status !== 'routed') throw new Error('not routed');
    expect(() => readFileSync(join(folder, 'new.txt'))).toThrow();
    const [asked] = await place.app.kernel.approvals.list({ states: ['pending'] });
    if (!asked) throw new Error('not asked');
    const shown = await place.app.kernel.approvals.present(asked);
    expect(shown).toMatchObject({
      title: 'Run write_file on files (live)',
      target: { kind: 'server', label: 'files' },
      body: [
        { type: 'diff', files: [{ path: join(folder, 'new.txt'), additions: 1 }] },
        { type: 'notice' },
        { type: 'fields', rows: [{ name: 'path', text: join(folder, 'new.txt') }] },
      ],
    });
    const { outcome } = await place.app.kernel.approvals.approve(write.outcome.approvalId, place.app.person);
    expect(outcome).toMatchObject({ status: 'ok' });
    expect(readFileSync(join(folder, 'new.txt'), 'utf8')).toBe('x');
  });

  it('reports an error of the server as failed, with the server’s own words', async () => {
    const { outcome } = await place.call('files__read_text_file', { path: '/etc/passwd' });
    expect(outcome).toMatchObject({
      status: 'failed',
      fault: { code: 'server_error' },
      data: { isError: true, content: [{ type: 'text', text: expect.stringContaining('denied') }] },
    });
  });

  it('refuses arguments that the pinned schema does not allow, before anything is sent', async () => {
    const { outcome } = await place.call('everything__get-sum', { a: 'two', b: 3 });
    expect(outcome).toMatchObject({
      status: 'failed',
      fault: { code: 'invalid_input', message: expect.stringContaining('a:') },
    });
  });

  it('keeps a knowledge graph in the memory server through the pipeline', async () => {
    const entities = [{ name: 'Ada', entityType: 'person', observations: ['wrote the first program'] }];
    expect((await place.call('memory__create_entities', { entities })).outcome.status).toBe('ok');
    const graph = await place.call('memory__read_graph', {});
    expect(JSON.stringify(graph.outcome)).toContain('wrote the first program');
    const records = await place.app.kernel.telemetry.calls({ toolkit: 'memory' });
    expect(records.map(({ tool, effect, status }) => [tool, effect, status])).toContainEqual([
      'memory__create_entities',
      'change',
      'ok',
    ]);
  });
});
