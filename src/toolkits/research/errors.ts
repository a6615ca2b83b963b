import { defineErrors } from '../../contract/errors.ts';

export const ResearchError = defineErrors({
  no_project: {
    retryable: false,
    hint: 'A person must open a project (`countersign research open PATH`) or create one (`countersign research create PATH`).',
    hintForPeople: 'Open a project on the Research page.',
  },
  code_not_found: {
    retryable: false,
    hint: 'Use an ID from list_codes.',
    hintForPeople: 'It may have been deleted. Check the codebook.',
  },
  source_not_found: {
    retryable: false,
    hint: 'Use an ID from list_sources.',
    hintForPeople: 'It may have been deleted. Check the list of sources.',
  },
  invalid_position: {
    retryable: false,
    hint: 'Positions are code points; read_source_content gives total_length.',
    hintForPeople: 'The text may have changed. Select the passage again.',
  },
});

export type ResearchErrorCode = keyof typeof ResearchError.codes;
