import { setTimeout as sleep } from 'node:timers/promises';
import {
  CLIENT_CAPABILITIES_META_KEY,
  MissingRequiredClientCapabilityError,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import { ToolError } from '../../src/contract/errors.ts';
import { TASKS_EXTENSION } from '../../src/contract/servers.ts';
import { READ_PROFILES, type ToolContext, toolFactory } from '../../src/contract/tool.ts';
import { currentExchange } from './exchange.ts';

const define = toolFactory<never>();

interface Fixture<I extends z.ZodObject> {
  readonly name: string;
  readonly input: I;
  readonly mayTakeLong?: boolean;
  readonly asksClient?: boolean;
  readonly remoteTasks?: boolean;
  run(args: z.output<I>, context: ToolContext<never>): Promise<string>;
}

const fixture = <I extends z.ZodObject>({ run, ...given }: Fixture<I>) =>
  define({
    ...given,
    title: given.name,
    summary: `Conformance fixture ${given.name}.`,
    effect: 'read',
    reach: 'local',
    category: 'conformance',
    profiles: READ_PROFILES,
    errors: ['not_found'],
    output: z.object({ text: z.string() }),
    run: async (args, context) => ({ text: await run(args as z.output<I>, context) }),
  });

const elicit = (message: string, name: string, type: string) => ({
  method: 'elicitation/create',
  params: {
    mode: 'form',
    message,
    requestedSchema: { type: 'object', properties: { [name]: { type } }, required: [name] },
  },
});

/** What the suite's scenarios on the tasks extension call. */
export const taskTools = [
  fixture({
    name: 'greet',
    input: z.object({ name: z.string() }),
    run: async ({ name }) => `Hello, ${name}!`,
  }),
  fixture({
    name: 'slow_compute',
    input: z.object({ seconds: z.number(), label: z.string().optional() }),
    mayTakeLong: true,
    async run({ seconds }, { signal }) {
      await sleep(seconds * 1000, undefined, { signal });
      return `Computed for ${seconds} s.`;
    },
  }),
  fixture({
    name: 'failing_job',
    input: z.object({}),
    mayTakeLong: true,
    async run(_args, { signal }) {
      const { context } = currentExchange();
      const envelope = context.mcpReq.envelope as Record<string, unknown> | undefined;
      const declared = envelope?.[CLIENT_CAPABILITIES_META_KEY] as { extensions?: object } | undefined;
      if (!Object.hasOwn(declared?.extensions ?? {}, TASKS_EXTENSION)) {
        const requiredCapabilities = { extensions: { [TASKS_EXTENSION]: {} } };
        currentExchange().error = new MissingRequiredClientCapabilityError({ requiredCapabilities });
        return '';
      }
      await sleep(1000, undefined, { signal });
      throw new ToolError('not_found', 'The job failed.');
    },
  }),
  fixture({
    name: 'protocol_error_job',
    input: z.object({}),
    mayTakeLong: true,
    async run() {
      currentExchange().error = new Error('The server broke.');
      return '';
    },
  }),
  fixture({
    name: 'confirm_delete',
    input: z.object({ filename: z.string() }),
    mayTakeLong: true,
    asksClient: true,
    async run({ filename }, { ask }) {
      const answers = await ask?.put({ confirm: elicit(`Delete ${filename}?`, 'confirm', 'boolean') });
      return JSON.stringify(answers);
    },
  }),
  fixture({
    name: 'multi_input',
    input: z.object({}),
    mayTakeLong: true,
    asksClient: true,
    async run(_args, { ask }) {
      const answers = await ask?.put({
        first: elicit('First name?', 'name', 'string'),
        second: elicit('Second name?', 'name', 'string'),
      });
      return JSON.stringify(answers);
    },
  }),
  fixture({
    name: 'test_tool_with_task',
    input: z.object({}),
    mayTakeLong: true,
    asksClient: true,
    remoteTasks: true,
    async run(_args, { ask, task }) {
      const answers = await ask?.put({ user_name: elicit('What is your name?', 'name', 'string') });
      task?.begin();
      await sleep(200);
      return `Hello, ${JSON.stringify(answers)}`;
    },
  }),
];
