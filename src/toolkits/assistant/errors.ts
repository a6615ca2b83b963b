import { defineErrors } from '../../contract/errors.ts';

export const AssistantError = defineErrors({
  assistant_not_configured: {
    retryable: false,
    hint: 'Set [assistant] model and credentials, or backend = "command".',
  },
  assistant_auth: {
    retryable: false,
    hint: 'The model provider rejected the credentials. Check the API key.',
  },
  assistant_rate_limited: {
    retryable: true,
    hint: 'The model provider is rate limiting requests. Retry later.',
  },
  assistant_context_overflow: {
    retryable: false,
    hint: 'The message is too large for the model. Send less.',
  },
  assistant_refused: { retryable: false, hint: 'The model refused to answer. Rephrase the request.' },
  assistant_limit: {
    retryable: false,
    hint: 'The order reached its step, token or cost limit. A person can raise it in [assistant].',
  },
  assistant_error: { retryable: true, hint: 'The assistant failed. Retry.' },
});

export type AssistantErrorCode = keyof typeof AssistantError.codes;
