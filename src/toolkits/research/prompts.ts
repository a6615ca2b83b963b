import type { Prompt } from '../../contract/toolkit.ts';

export const prompts: readonly Prompt[] = [
  {
    name: 'code_transcript',
    title: 'Code a transcript',
    description: 'Suggest codings for one source; the researcher decides on each.',
    arguments: [{ name: 'source_id', description: 'The source, from list_sources.', required: true }],
    tools: ['list_sources', 'read_source_content', 'list_codes', 'suggest_code_application'],
    text: ({ source_id }) =>
      `Read source ${source_id} with read_source_content and the codebook with list_codes. Suggest codings with suggest_code_application, each with a rationale that quotes the evidence; suggest a new code only where none fits. Apply nothing yourself. End with a summary of what you suggested and what you were unsure about.`,
  },
];
