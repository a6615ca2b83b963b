import { z } from 'zod';
import { configSection } from '../../contract/config.ts';

export const research = configSection(
  'research',
  'Qualitative research on QualCoder projects.',
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
          'off: no similarity and no automatic suggestions at all. local: on this machine only. llm: the configured model may refine local results, and each result says so.',
        ),
      coder: z
        .string()
        .min(1)
        .optional()
        .describe(
          'Your coder name, written as owner of what you do here. Default: the one set in the project.',
        ),
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
);

export const sections = [research];
export type ResearchConfig = z.output<typeof research.schema>;
