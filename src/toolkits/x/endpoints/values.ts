import type { Param } from './endpoint.ts';

const DIGITS = /^\d{1,19}$/;
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})$/;
const PRINTABLE = /^[\x21-\x7e]{1,1024}$/;

const FORMS: Partial<Record<Param['kind'], { readonly pattern: RegExp; readonly says: string }>> = {
  post_id: { pattern: DIGITS, says: 'must be a post id of up to 19 digits' },
  user_id: { pattern: DIGITS, says: 'must be a user id of up to 19 digits' },
  self_id: { pattern: /^(me|\d{1,19})$/, says: 'must be your own user id, or me' },
  list_id: { pattern: DIGITS, says: 'must be a list id of up to 19 digits' },
  media_id: { pattern: DIGITS, says: 'must be a media id of up to 19 digits' },
  numeric_id: { pattern: DIGITS, says: 'must be an id of up to 19 digits' },
  conversation_id: {
    pattern: /^(\d{1,19}-\d{1,19}|\d{15,19})$/,
    says: 'must be a conversation id: two user ids joined by -, or 15 to 19 digits',
  },
  space_id: { pattern: /^[A-Za-z0-9]{1,13}$/, says: 'must be a space id of up to 13 letters and digits' },
  ads_id: { pattern: /^[A-Za-z0-9]{1,20}$/, says: 'must be an id of up to 20 letters and digits' },
  username: { pattern: /^@?\w{1,15}$/, says: 'must be a username of up to 15 letters, digits and _' },
  token: { pattern: PRINTABLE, says: 'must be a token from an earlier reply' },
  time: { pattern: TIME, says: 'must be a time such as 2026-02-25T13:00:00Z' },
};

/** What is wrong with a value, in words that follow its name; undefined when it may be sent. */
export function problemWith(param: Param, value: unknown): string | undefined {
  switch (param.kind) {
    case 'integer':
      return problemWithInteger(param, value);
    case 'boolean':
      if (typeof value !== 'boolean') return 'must be true or false';
      return param.values && !param.values.includes(String(value))
        ? `can only be ${param.values.join()} here`
        : undefined;
    case 'csv':
      return typeof value === 'string'
        ? problemWithItems(param, splitList(value))
        : 'must be comma-separated text or a list of strings, such as ["1", "2"]';
    case 'ids':
    case 'texts':
      return isTexts(value) ? problemWithItems(param, value) : 'must be a list of strings';
    case 'rules':
      return problemWithRules(param, value);
    case 'binary':
      return value instanceof Uint8Array ? undefined : 'must be bytes';
    default:
      return typeof value === 'string' ? problemWithText(param, value) : 'must be a string';
  }
}

export const splitList = (text: string): string[] =>
  text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');

const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'string');

function problemWithText(param: Param, value: string): string | undefined {
  const form = FORMS[param.kind];
  if (form && !form.pattern.test(value)) return form.says;
  if (param.kind === 'time' && Number.isNaN(Date.parse(value))) return 'is not a time that exists';
  if (param.required && value === '') return 'must not be empty';
  if (param.values && !param.values.includes(value)) return `must be one of ${param.values.join(', ')}`;
  if (param.maxLength !== undefined && [...value].length > param.maxLength) {
    return `must have at most ${param.maxLength} characters`;
  }
  return undefined;
}

function problemWithInteger(param: Param, value: unknown): string | undefined {
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) return 'must be an integer';
  const { min = Number.MIN_SAFE_INTEGER, max = Number.MAX_SAFE_INTEGER } = param;
  if (value < min || value > max) return `must be between ${min} and ${max}`;
  return undefined;
}

function problemWithItems(param: Param, items: readonly string[]): string | undefined {
  if (items.length === 0) return 'must not be empty';
  if (param.maxItems !== undefined && items.length > param.maxItems)
    return `must have at most ${param.maxItems} items`;
  if (param.kind === 'ids' && !items.every((item) => DIGITS.test(item)))
    return 'must contain IDs of up to 19 digits';
  const stranger = param.values && items.find((item) => !param.values?.includes(item));
  return stranger === undefined ? undefined : `may only contain ${param.values?.join(', ')}`;
}

function problemWithRules(param: Param, value: unknown): string | undefined {
  if (!Array.isArray(value) || value.length === 0) return 'must be a list of rules';
  if (param.maxItems !== undefined && value.length > param.maxItems)
    return `must have at most ${param.maxItems} items`;
  const wellFormed = value.every(
    (rule: unknown) =>
      typeof rule === 'object' &&
      rule !== null &&
      'value' in rule &&
      typeof rule.value === 'string' &&
      rule.value.trim() !== '' &&
      (!('tag' in rule) || typeof rule.tag === 'string') &&
      Object.keys(rule).every((key) => key === 'value' || key === 'tag'),
  );
  return wellFormed ? undefined : 'must contain rules such as { "value": "cats has:images", "tag": "cats" }';
}
