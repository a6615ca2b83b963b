import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import Database from 'libsql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type App, openApp } from '../../../app/app.ts';
import { createServed } from '../../../app/serving.ts';
import type { JsonObject } from '../../../contract/json.ts';
import type { Outcome } from '../../../contract/outcome.ts';
import { serveOnHttp } from '../../../transports/http.ts';
import { makeStudy } from './support/study.ts';

/** What may never reach an agent: private parts of memos, a closed source, and a name that has a pseudonym. */
const PRIVATE = 'WhatOnlyIThink';
const CLOSED = 'ClosedAltogether';
const NAME = 'Zebediah';
const PSEUDONYM = 'Person 7';

describe('an agent on a project with secrets', () => {
  let app: App;
  let home: string;
  let client: Client;
  let url: string;
  let closeAll: () => Promise<void>;
  const seen: string[] = [];

  beforeAll(async () => {
    home = mkdtempSync(join(tmpdir(), 'countersign-privacy-'));
    // Every change asks, so that what people do stands in the queue too.
    writeFileSync(
      join(home, 'config.toml'),
      'toolkits = ["research", "governance"]\n[log]\nlevel = "silent"\n[mcp_policy]\nrequire_approval_for = ["create_code", "update_code", "add_source", "code_quote"]\n',
    );
    const { path, file } = makeStudy(home);
    fillWithSecrets(file);
    app = await openApp({ env: { COUNTERSIGN_HOME: home, HOME: home } });
    await asPerson('open_project', { path });
    await asPerson('set_pseudonym', { original: NAME, pseudonym: PSEUDONYM });
    await asPerson('set_source_access', { source_id: 60, off_limits: true });
    const served = await createServed(app, {
      toolkits: ['research', 'governance'],
      profile: 'write',
      discovery: false,
    });
    const listening = await serveOnHttp(served, { host: '127.0.0.1', port: 0 });
    url = `http://127.0.0.1:${listening.port}`;
    client = new Client({ name: 'curious', version: '1.0.0' }, {});
    await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`)));
    closeAll = async () => {
      await client.close();
      await listening.close();
      await app.close();
      rmSync(home, { recursive: true, force: true });
    };
  });
  afterAll(() => closeAll());

  const asPerson = async (tool: string, args: JsonObject): Promise<Outcome> => {
    const bound = await app.inventory.resolve(tool);
    if (!bound) throw new Error(`No tool ${tool}`);
    return (await app.kernel.invoke({ bound, args, principal: app.person, transport: 'test' })).outcome;
  };
  const call = async (name: string, args: JsonObject = {}): Promise<JsonObject> => {
    const reply = await client.callTool({ name, arguments: args });
    seen.push(`${name} ${JSON.stringify(reply)}`);
    return (reply.structuredContent ?? {}) as JsonObject;
  };

  it('meets none of them in any tool, with any source or code', async () => {
    const suggested = await asPerson('auto_suggest_codes', { source_id: 61, min_confidence: 10 });
    expect(suggested).toMatchObject({ status: 'ok' });
    await asPerson('create_code', { name: `With ${NAME}`, memo: `open\n#####\n${PRIVATE}` });
    await asPerson('update_code', { code_id: 2, memo: `${NAME} copes\n#####\n${PRIVATE}` });
    await asPerson('add_source', {
      name: 'later.txt',
      content: `${NAME} again.`,
      memo: `x\n#####\n${PRIVATE}`,
    });

    for (const name of ['get_project_context', 'list_sources', 'list_codes', 'list_pending_suggestions'])
      await call(name);
    await call('list_pending_coding_suggestions');
    await call('detect_duplicate_codes', { threshold: 0, include_usage_analysis: true });
    // In small letters, so that an echo is no leak.
    for (const search_text of [CLOSED, NAME, PSEUDONYM, 'money', PRIVATE].map((text) => text.toLowerCase()))
      await call('find_similar_content', { search_text });
    for (const source_id of [1, 60, 61]) {
      for (const name of ['read_source_content', 'list_segments_for_source', 'analyze_uncoded_text'])
        await call(name, { source_id });
      await call('analyze_content_for_codes', { source_id });
      await call('auto_suggest_codes', { source_id, min_confidence: 0 });
      const range = { source_id, start_pos: 0, end_pos: 30 };
      await call('suggest_codes_for_range', range);
      await call('navigate_to_segment', range);
      await call('suggest_code_application', { ...range, code_id: 1, include_text: true, rationale: 'r' });
      await call('suggest_source_metadata', { source_id, language: 'en' });
      await call('auto_code_speaker', { source_id, preview: true });
      await call('suggest_batch_coding', { code_id: 2, segments: [range], rationale: 'r' });
    }
    for (const pattern of [NAME.toLowerCase(), CLOSED.toLowerCase(), '\\w+', PSEUDONYM])
      await call('auto_code_pattern', { code_id: 1, pattern, match_type: 'regex', preview: true });
    for (const code_id of [1, 2, 5]) await call('get_code', { code_id });
    await call('update_code', { code_id: 1, color: '#00ff00' });
    await call('merge_codes', { source_code_id: 5, target_code_id: 1 });
    await call('delete_code', { code_id: 2, delete_segments: true });
    await call('create_code', { name: `With ${NAME.toLowerCase()}` });
    await call('batch_apply_codes', {
      operations: [
        { code_id: 1, source_id: 60, start_position: 0, end_position: 5 },
        { code_id: 1, source_id: 61, start_position: 0, end_position: 12 },
      ],
    });
    const [pending] = await app.kernel.approvals.list({ states: ['pending'], tools: ['apply_code'] });
    await app.kernel.approvals.reject(pending?.uuid ?? '', app.person, {
      reason: `${NAME} would be known by this`,
      feedback: `Leave ${NAME} out\n#####\n${PRIVATE}`,
    });
    expect(pending?.requester).toEqual({ kind: 'agent', id: 'local', label: expect.anything() });
    expect(await call('approval_get', { approval_id: pending?.uuid ?? '' })).toMatchObject({
      decision_reason: `${PSEUDONYM} would be known by this`,
      feedback: `Leave ${PSEUDONYM} out`,
    });
    const { source_id, code_id, start_pos, end_pos } = (pending?.args ?? {}) as Record<string, number>;
    const again = await call('suggest_code_application', {
      source_id: source_id ?? 0,
      code_id: code_id ?? 0,
      start_pos: start_pos ?? 0,
      end_pos: end_pos ?? 0,
    });
    expect(again).toMatchObject({
      data: { previously_rejected: { reason: `${PSEUDONYM} would be known by this` } },
    });
    await call('list_pending_coding_suggestions');
    for (const item of await app.kernel.approvals.list({ limit: 40 })) {
      await call('approval_get', { approval_id: item.uuid });
      if (item.callId) await call('audit_get', { call_id: item.callId });
      if (item.groupId) await call('get_suggestion_batch_status', { batch_id: item.groupId });
    }
    const calls = await app.kernel.telemetry.calls({ limit: 1000 });
    const byPerson = calls.filter(({ principal }) => principal.startsWith('person'));
    expect(byPerson.length).toBeGreaterThan(5);
    for (const { callId } of byPerson) await call('audit_get', { call_id: callId });
  });

  it('meets none of them in resources, lists and the HTTP API', async () => {
    const { resources } = await client.listResources();
    for (const { uri } of resources)
      seen.push(`${uri} ${JSON.stringify(await client.readResource({ uri }))}`);
    seen.push(JSON.stringify([await client.listTools(), await client.listPrompts()]));
    for (const path of ['/', '/tools']) seen.push(`${path} ${await (await fetch(url + path)).text()}`);
    for (const name of ['list_sources', 'list_codes', 'get_project_context']) {
      const response = await fetch(`${url}/tools/${name}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{"arguments": {}}',
      });
      seen.push(`POST ${name} ${await response.text()}`);
    }
    expect(await call('get_code', { code_id: 1 })).toMatchObject({ data: { segment_count: 15 } });
    expect(seen.length).toBeGreaterThan(100);
    expect(seen.join('\n')).toContain(PSEUDONYM);
    for (const secret of [PRIVATE, CLOSED, NAME]) {
      const leaks = seen.flatMap((text) => {
        const at = text.indexOf(secret);
        return at === -1 ? [] : [`${text.slice(0, 40)} … ${text.slice(Math.max(0, at - 120), at + 60)}`];
      });
      expect(leaks).toEqual([]);
    }
  });

  it('shows nothing more of a source that is put off limits later', async () => {
    const words = 'I am anxious at night';
    await call('code_quote', { code_id: 5, quote: words });
    const [asked] = await app.kernel.approvals.list({ states: ['pending'], tools: ['code_quote'] });
    const id = { approval_id: asked?.uuid ?? '' };
    await app.kernel.approvals.approve(id.approval_id, app.person);
    expect(JSON.stringify(await call('approval_get', id))).toContain(words);
    const { data } = (await call('suggest_batch_coding', {
      code_id: 5,
      segments: [61, 1].map((source_id) => ({ source_id, start_pos: 11, end_pos: 19 })),
      rationale: 'both',
    })) as { data: { batch_id: string } };

    await asPerson('set_source_access', { source_id: 61, off_limits: true });
    const shown = await call('approval_get', id);
    expect(shown).toMatchObject({ state: 'done' });
    expect(JSON.stringify(shown)).not.toContain('anxious');
    expect(await call('get_suggestion_batch_status', { batch_id: data.batch_id })).toMatchObject({
      data: { total_count: 1, pending_count: 1 },
    });
    const pending = JSON.stringify(await client.readResource({ uri: 'countersign://approvals/pending' }));
    expect(pending.match(/not available\.: .{0,30}/)).toBeNull();
    await asPerson('set_source_access', { source_id: 61, off_limits: false });
  });

  it('leaves a record of every read, and none of the private parts in the log', async () => {
    const { db } = app.database;
    await app.kernel.flush();
    const reads = await app.kernel.telemetry.calls({ effects: ['read'], limit: 5000 });
    expect(new Set(reads.map(({ tool }) => tool))).toContain('read_source_content');
    const kept = JSON.stringify([
      await db.selectFrom('audit_log').selectAll().execute(),
      await db.selectFrom('audit_payloads').selectAll().execute(),
      await db.selectFrom('events').selectAll().execute(),
    ]);
    expect(kept.match(new RegExp(`.{0,80}${PRIVATE}.{0,20}`, 'g'))).toBeNull();
  });
});

/** Into everything that a project can say. */
function fillWithSecrets(file: string): void {
  const db = new Database(file);
  const memo = `about ${NAME}\n#####\n${PRIVATE}`;
  const date = '2024-03-06 09:00:00';
  const run = (sql: string, ...values: (string | number)[]) => db.prepare(sql).run(...values);
  run('UPDATE project SET memo = ?', memo);
  run('UPDATE source SET memo = ?', memo);
  run('UPDATE code_name SET memo = ?', memo);
  run('UPDATE code_cat SET memo = ?, name = name || ?', memo, ` of ${NAME}`);
  run('UPDATE code_text SET memo = ?', memo);
  run('UPDATE cases SET memo = ?, name = name || ?', memo, ` ${NAME}`);
  run('UPDATE annotation SET memo = ?', memo);
  run('UPDATE journal SET jentry = ?', `${PRIVATE} ${NAME}`);
  const add = db.prepare(
    'INSERT INTO source (id, name, fulltext, mediapath, memo, owner, date) VALUES (?, ?, ?, ?, ?, ?, ?)',
  );
  const closed = `${CLOSED}: I worry about money. ${CLOSED} worries. ${CLOSED}: I am anxious.`;
  add.run(60, `${CLOSED}.txt`, closed, `/docs/${CLOSED}.txt`, `${CLOSED}\n#####\n${PRIVATE}`, 'ada', date);
  const open = `${NAME}: I worry about money.\nInterviewer: Why, ${NAME}?\n${NAME}: I am anxious at night.\n`;
  add.run(61, `Talk with ${NAME}.txt`, open, `/docs/${NAME}.txt`, memo, 'ada', date);
  const code = db.prepare(
    'INSERT INTO code_text (cid, fid, seltext, pos0, pos1, owner, date, memo) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
  );
  code.run(1, 60, closed.slice(0, 40), 0, 40, 'ada', date, `${CLOSED} ${memo}`);
  code.run(1, 61, open.slice(0, 20), 0, 20, NAME, date, memo);
  // The text under this one was changed: what was selected is stored with the coding alone.
  code.run(1, 61, `what ${NAME} once said`, 40, 62, 'ada', date, memo);
  run("INSERT INTO annotation VALUES (90, 60, 0, 5, ?, 'ada', ?)", `${CLOSED} ${memo}`, date);
  db.close();
}
