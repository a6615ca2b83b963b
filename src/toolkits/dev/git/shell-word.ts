const PLAIN = /^[\w./:@+-]+$/;

/** A word as a shell takes it literally: what an agent wrote must do nothing when a person pastes the line. */
export const shellWord = (text: string): string =>
  PLAIN.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
