import type { JsonSchema } from '../../contract/json.ts';
import type { Presentation } from '../../contract/presentation.ts';
import type { Tool } from '../../contract/tool.ts';
import type { BoundTool } from '../../contract/toolkit.ts';

export const SERVICES = { name: 'services' };

/** A tool that is only shown, never run. */
export const makeTool = (more: Partial<Tool> & { json?: JsonSchema } = {}): Tool => {
  const { json = {}, ...rest } = more;
  const schema = { json, parse: (value: unknown) => ({ ok: true as const, value }) };
  return {
    name: 'send_note',
    title: 'Send a note',
    summary: 'Sends a note.',
    effect: 'change',
    reach: 'network',
    category: 'notes',
    profiles: [],
    errors: [],
    input: schema,
    output: schema,
    run: async () => null,
    ...rest,
  };
};

export const makeBound = (
  tool: Tool,
  toolkit: Partial<BoundTool['toolkit']> = { title: 'Notes' },
): BoundTool => ({
  tool,
  toolkit: { id: 'notes', dialect: {} as BoundTool['toolkit']['dialect'], ...toolkit },
  services: async () => SERVICES,
});

export const PRESENTATION: Presentation = {
  title: 'Send a note (live)',
  done: 'Sent a note (live)',
  act: 'send',
  gist: null,
  kind: 'message',
  target: { kind: 'account', label: '@acme', environment: 'live' },
  effect: { text: 'Sends a note' },
  undo: { possible: false, text: 'No undo' },
  risks: [],
  body: [],
  generic: false,
  money: false,
};
