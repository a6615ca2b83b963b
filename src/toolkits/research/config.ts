import { z } from 'zod';
import { configSection } from '../../contract/config.ts';

/** Tools that analyse texts and codes automatically; gone when `ai` is off. */
const ANALYSIS_TOOLS = [
  'find_similar_content',
  'suggest_codes_for_range',
  'auto_suggest_codes',
  'detect_duplicate_codes',
  'analyze_content_for_codes',
];

export const research = configSection(
  'research',
  'Qualitative research on QualCoder projects.',
  () =>
    z
      .object({
        project: z
          .string()
          .min(1)
          .optional()
          .describe('Path of the .qda directory that is open until a person opens another one.'),
        ai: z
          .enum(['off', 'local', 'llm'])
          .default('local')
          .describe(
            'off: no similarity and no automatic suggestions; the tools for them are not offered and no model is ever loaded. local: on this machine only. llm: the configured model may refine local results, and each result says so.',
          ),
        coder: z
          .string()
          .min(1)
          .optional()
          .describe(
            'Your coder name, recorded as the owner of what you do here. Default: the one set in the project.',
          ),
        llm: z
          .object({
            provider: z
              .enum(['openai', 'anthropic', 'compatible'])
              .describe('openai, anthropic, or compatible for any OpenAI-compatible server such as Ollama.'),
            model: z.string().min(1).describe('Model name as the provider writes it.'),
            api_key: z
              .string()
              .min(1)
              .optional()
              .describe('Key of the provider; a local server needs none.')
              .meta({ secret: true }),
            base_url: z.url().optional().describe('Address of the server, for provider compatible.'),
          })
          .strict()
          .optional()
          .describe('The model that refines suggestions when ai is llm.'),
        embeddings: z
          .object({
            base_url: z
              .url()
              .default('http://127.0.0.1:11434/v1')
              .describe('Address of an OpenAI-compatible API with /embeddings, such as Ollama.'),
            model: z.string().min(1).describe('Embedding model as the server names it.'),
            api_key: z
              .string()
              .min(1)
              .optional()
              .describe('Key of the server; a local one needs none.')
              .meta({ secret: true }),
          })
          .strict()
          .optional()
          .describe(
            'A model that compares by meaning, in addition to words. For suggestions it is used only where it helps on held-out codings of the project. An address on another machine requires ai = "llm".',
          ),
        backups_kept: z
          .int()
          .min(1)
          .default(14)
          .describe('Number of daily backups to retain. Backups by QualCoder are never touched.'),
        max_suggestions: z
          .int()
          .min(1)
          .max(2000)
          .default(200)
          .describe('Maximum suggestions that one call of auto_suggest_codes may create.'),
      })
      .strict(),
  ({ ai }) => (ai === 'off' ? ANALYSIS_TOOLS : []),
);

export const sections = [research];
export type ResearchConfig = z.output<typeof research.schema>;
