/** What an expansion may contain, by operator (RFC 6570): its first character, and characters that end it. */
const OPERATORS: ReadonlyMap<string, { readonly first: string; readonly ends: string }> = new Map([
  ['', { first: '', ends: '/?#' }],
  ['+', { first: '', ends: '' }],
  ['#', { first: '#', ends: '' }],
  ['.', { first: '.', ends: '/?#' }],
  ['/', { first: '/', ends: '?#' }],
  [';', { first: ';', ends: '/?#' }],
  ['?', { first: '?', ends: '/?#' }],
  ['&', { first: '&', ends: '/?#' }],
]);

/** Nothing longer is compared: a server wrote the template, and an agent the URI. */
const MAX_URI = 16_384;
const MAX_PARTS = 200;

const EXPRESSION = /^\{([+#./;?&]?)[\p{L}\p{N}_.%*:,]+\}$/u;

/**
 * Whether a URI can be an expansion of a template. Not a regular expression: templates come from strangers, and several
 * variables in a row would let one take exponential time. Every part is compared with every position once.
 */
export function matchesTemplate(template: string, uri: string): boolean {
  const parts = template.split(/(\{[^{}]*\})/);
  if (uri.length > MAX_URI || parts.length > MAX_PARTS) return false;
  let reached = new Set([0]);
  for (const part of parts) {
    if (part === '') continue;
    const next = part.startsWith('{') ? expand(part, uri, reached) : after(part, uri, reached);
    if (!next || next.size === 0) return false;
    reached = next;
  }
  return reached.has(uri.length);
}

const after = (literal: string, uri: string, reached: ReadonlySet<number>): Set<number> =>
  new Set([...reached].filter((at) => uri.startsWith(literal, at)).map((at) => at + literal.length));

/** Undefined for an expression that RFC 6570 does not know. A variable without a value expands to nothing. */
function expand(part: string, uri: string, reached: ReadonlySet<number>): Set<number> | undefined {
  const operator = OPERATORS.get(EXPRESSION.exec(part)?.[1] ?? 'none');
  if (!operator) return undefined;
  const { first, ends } = operator;
  const next = new Set(reached);
  let isInside = false;
  for (let at = 0; at <= uri.length; at += 1) {
    if (isInside) next.add(at);
    const character = uri.charAt(at);
    const continues: boolean = isInside && !ends.includes(character);
    const begins = reached.has(at) && (first === '' ? !ends.includes(character) : character === first);
    isInside = continues || begins;
  }
  return next;
}
