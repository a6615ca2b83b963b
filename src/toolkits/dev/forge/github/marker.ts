/** A comment no reader sees: it ties what GitHub keeps to the call that made it. */
const mark = (callId: string): string => `<!-- countersign:call=${callId} -->`;
const MARK = /\n*<!-- countersign:call=[0-9A-Za-z-]+ -->\s*$/;

export const withMarker = (body: string, callId: string): string =>
  `${body}${body === '' ? '' : '\n\n'}${mark(callId)}`;
export const hasMarker = (body: string | null | undefined, callId: string): boolean =>
  body?.includes(mark(callId)) ?? false;
export const withoutMarker = (body: string | null | undefined): string => (body ?? '').replace(MARK, '');
