import { z } from 'zod';
import { configSection } from '../../contract/config.ts';

const HOUR_S = 3_600;
const seconds = (value: number, max: number, doc: string) =>
  z.number().int().min(1).max(max).default(value).describe(doc);
const count = (value: number, doc: string) => z.number().int().min(1).default(value).describe(doc);

const provider = z
  .object({
    kind: z
      .enum(['anthropic', 'openai', 'openai-compatible'])
      .describe('Protocol of the server. openai-compatible: Ollama, vLLM, LM Studio and similar.'),
    base_url: z.url().optional().describe('URL of the API, including its version (`…/v1`).'),
    api_key: z.string().min(1).optional().describe('Key sent to this server.').meta({ secret: true }),
    api: z
      .enum(['responses', 'chat'])
      .default('responses')
      .describe('For kind openai: the Responses API or the older Chat Completions API.'),
  })
  .strict();

const price = z
  .object({
    input: z.number().min(0).describe('US dollars per million tokens read.'),
    output: z.number().min(0).describe('US dollars per million tokens written.'),
  })
  .strict();

export const assistantSection = configSection(
  'assistant',
  'The assistant behind order_clawdbot: which model or command answers, and how far one order may go.',
  () =>
    z
      .object({
        backend: z
          .enum(['model', 'command'])
          .default('model')
          .describe('model: an API, with the other toolkits as its tools. command: a command-line agent.'),
        model: z
          .string()
          .regex(/^[^/\s]+\/\S+$/, 'must have the form PROVIDER/MODEL, such as anthropic/claude-opus-4-5')
          .optional()
          .describe('PROVIDER/MODEL. Providers known without a table: anthropic, openai, ollama.'),
        fallbacks: z
          .array(z.string().regex(/^[^/\s]+\/\S+$/, 'must have the form PROVIDER/MODEL'))
          .default([])
          .describe('Models tried in this order when the first one fails.'),
        api_key: z
          .string()
          .min(1)
          .optional()
          .describe('Key of the provider of `model`; else ANTHROPIC_API_KEY or OPENAI_API_KEY is used.')
          .meta({ secret: true }),
        providers: z
          .record(z.string(), provider)
          .default({})
          .describe('Further model servers: [assistant.providers.NAME] with kind, base_url and api_key.'),
        stream: z.boolean().default(true).describe('Request a stream from the model, to report progress.'),
        retries: z
          .number()
          .int()
          .min(0)
          .max(10)
          .default(2)
          .describe('How often a model request that failed temporarily is retried.'),

        tools: z
          .array(z.string().min(1))
          .default(['*'])
          .describe('Which tools of the other toolkits the assistant may use; `*` matches any characters.'),
        max_listed_tools: count(
          64,
          'With more tools than this the model gets a search over them instead of the whole list.',
        ),
        tool_result_chars: count(20_000, 'Longer tool results are shortened in the middle for the model.'),

        max_steps: count(20, 'Model requests one order may take.'),
        timeout_seconds: seconds(600, 2 * HOUR_S, 'Time one order may take once its turn has come.'),
        step_timeout_seconds: seconds(180, 2 * HOUR_S, 'Time one model request may take.'),
        queue_timeout_seconds: seconds(900, HOUR_S, 'Time an order waits for earlier ones of its session.'),
        max_tokens: count(1_000_000, 'Tokens one order may read and write in all its steps.'),
        max_output_tokens: count(8_192, 'Tokens one model request may write.'),
        max_cost_usd: z
          .number()
          .positive()
          .optional()
          .describe('Cost limit of one order; needs a price for each model used.'),
        prices: z
          .record(z.string(), price)
          .default({})
          .describe(
            '[assistant.prices."PROVIDER/MODEL"] with input and output in US dollars per million tokens.',
          ),
        max_concurrent: count(8, 'Orders that run simultaneously in one process; further ones wait.'),

        context_tokens: z
          .number()
          .int()
          .min(1_000)
          .default(200_000)
          .describe('Size of the model’s context window. Older turns are summarised before it is full.'),
        keep_answers_hours: count(
          24,
          'How long the answer of an order whose caller timed out can be fetched.',
        ),

        persona_file: z
          .string()
          .min(1)
          .optional()
          .describe('Markdown file that says who the assistant is. Default: assistant/persona.md.'),
        memory_file: z
          .string()
          .min(1)
          .optional()
          .describe('Markdown file of what the assistant should know. Default: assistant/memory.md.'),

        command: z
          .array(z.string())
          .min(1)
          .optional()
          .describe(
            'Program and arguments of backend command, run without a shell. {message}, {session}, {transcript} and {files} are filled in; without {message} it is written to standard input.',
          ),
        command_resume: z
          .array(z.string())
          .min(1)
          .optional()
          .describe('Used instead of command from the second turn of a session on.'),
        command_cwd: z.string().min(1).optional().describe('Directory the command runs in.'),
        command_env: z
          .array(z.string().min(1))
          .default([])
          .describe('Environment variables passed on in addition to PATH, HOME and the locale.'),
        command_output_bytes: count(
          1_000_000,
          'Bytes of output stored for one run of the command; the rest is discarded.',
        ),
      })
      .strict(),
);

export type AssistantConfig = z.output<typeof assistantSection.schema>;

export const sections = [assistantSection] as const;
