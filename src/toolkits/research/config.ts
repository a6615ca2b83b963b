import { z } from 'zod';
import { configSection } from '../../contract/config.ts';

/** What reads texts and codes by itself; gone when `ai` is off. */
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
          .describe('Path of the .qda folder that is open until a person opens another one.'),
        ai: z
          .enum(['off', 'local', 'llm'])
          .default('local')
          .describe(
            'off: no similarity and no automatic suggestions: the tools that do this are gone and no model is ever loaded. local: on this machine only. llm: the configured model may refine local results, and each result says so.',
          ),
        coder: z
          .string()
          .min(1)
          .optional()
          .describe(
            'Your coder name, written as owner of what you do here. Default: the one set in the project.',
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
        backups_kept: z
          .int()
          .min(1)
          .default(14)
          .describe(
            'How many of the daily backups made here are kept. Backups by QualCoder are never touched.',
          ),
        max_suggestions: z
          .int()
          .min(1)
          .max(2000)
          .default(200)
          .describe('The most suggestions one call of auto_suggest_codes may file.'),
      })
      .strict(),
  ({ ai }) => (ai === 'off' ? ANALYSIS_TOOLS : []),
);

export const sections = [research];
export type ResearchConfig = z.output<typeof research.schema>;
