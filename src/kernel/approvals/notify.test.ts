import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Approval, Log } from '../../contract/ports.ts';
import { createNotifier, type NotifyOptions } from './notify.ts';

/** What a notification reads of an approval. */
const approval = {
  id: 7,
  summary: 'Post “a "secret" plan” to @acme (live)',
  requester: { kind: 'agent', id: 'mira', orderedBy: 'ada' },
} as unknown as Approval;
const TITLE = 'Countersign: approval 7 is pending';
const TEXT = 'Post “…” to @acme (live), requested by agent:mira for ada';

const quiet: Log = { debug() {}, info() {}, warn() {}, error() {} };

/** The programs that a notification starts. */
function startedBy(more: Partial<NotifyOptions>): (readonly string[])[] {
  const started: (readonly string[])[] = [];
  const notify = createNotifier({
    webhook: undefined,
    webhookKind: 'json',
    webhookToken: undefined,
    desktop: true,
    log: quiet,
    env: {},
    inboxUrl: async () => undefined,
    platform: 'linux',
    run(program, args, done) {
      started.push([program, ...args]);
      done();
    },
    ...more,
  });
  notify(approval);
  return started;
}

describe('a notification of a pending approval', () => {
  afterEach(() => vi.restoreAllMocks());

  it('is shown on a Linux desktop, without content', () => {
    const expected = [['notify-send', '--app-name=Countersign', TITLE, TEXT]];
    expect(startedBy({ env: { DISPLAY: ':0' } })).toEqual(expected);
    expect(startedBy({ env: { WAYLAND_DISPLAY: 'wayland-0' } })).toEqual(expected);
  });

  it('is shown on macOS, quoted so that no title becomes part of the script', () => {
    const quoted = { ...approval, summary: 'Run "x" & beep on files (local)' };
    const started: (readonly string[])[] = [];
    const notify = createNotifier({
      webhook: undefined,
      webhookKind: 'json',
      webhookToken: undefined,
      desktop: true,
      log: quiet,
      env: {},
      inboxUrl: async () => undefined,
      platform: 'darwin',
      run: (program, args) => started.push([program, ...args]),
    });
    notify(quoted);
    expect(started).toEqual([
      [
        'osascript',
        '-e',
        `display notification "Run \\"x\\" & beep on files (local), requested by agent:mira for ada" with title "${TITLE}"`,
      ],
    ]);
  });

  it('is not shown without a desktop, on other systems, or when it is disabled', () => {
    expect(startedBy({ env: {} })).toEqual([]);
    expect(startedBy({ env: { DISPLAY: '' } })).toEqual([]);
    expect(startedBy({ platform: 'win32', env: { DISPLAY: ':0' } })).toEqual([]);
    expect(startedBy({ desktop: false, env: { DISPLAY: ':0' } })).toEqual([]);
    expect(startedBy({ desktop: false, platform: 'darwin' })).toEqual([]);
  });

  it('is posted where a webhook is configured, and only there', async () => {
    const fetched = vi.spyOn(globalThis, 'fetch').mockResolvedValue(new Response(null, { status: 204 }));
    const plain = { ...approval, createdAt: new Date('2026-03-09T10:00:00Z') };
    const options = { desktop: false, log: quiet, env: {}, inboxUrl: async () => undefined } as const;
    createNotifier({ ...options, webhook: undefined, webhookKind: 'slack', webhookToken: undefined })(plain);
    createNotifier({
      ...options,
      webhook: 'https://hooks.example/x',
      webhookKind: 'slack',
      webhookToken: 't0ken',
    })(plain);
    await expect.poll(() => fetched.mock.calls.length).toBe(1);
    expect(fetched.mock.calls[0]).toMatchObject([
      'https://hooks.example/x',
      { headers: { authorization: 'Bearer t0ken' }, body: expect.stringContaining('Approval 7 is pending') },
    ]);
  });
});
