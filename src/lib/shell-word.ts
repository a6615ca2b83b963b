/** An equals sign may begin no word: zsh would look for a program of that name. */
const PLAIN = /^[\w./:@+-][\w./:@+,%=-]*$/;

/** A word as a shell takes it literally: what an agent wrote must do nothing when a person pastes the line. */
export const shellWord = (text: string): string =>
  PLAIN.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
