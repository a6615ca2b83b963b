/** The known name nearest to a mistyped one, or undefined when none is near enough to be meant. */
export function closest(name: string, known: Iterable<string>): string | undefined {
  const wanted = name.toLowerCase();
  let best: string | undefined;
  let bestCost = Math.max(2, Math.floor(name.length / 3)) + 1;
  for (const candidate of known) {
    const other = candidate.toLowerCase();
    // `post_tweet` for `x_post_tweet`: a forgotten prefix or suffix is likelier than many typing errors.
    const cost =
      wanted.length > 3 && (other.endsWith(wanted) || other.startsWith(wanted)) ? 1 : distance(wanted, other);
    if (cost < bestCost) {
      best = candidate;
      bestCost = cost;
    }
  }
  return best;
}

/** Levenshtein distance that counts two swapped neighbours as one error. */
function distance(a: string, b: string): number {
  let before: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1];
      let cost = Math.min(
        at(previous, column) + 1,
        at(current, column - 1) + 1,
        at(previous, column - 1) + (same ? 0 : 1),
      );
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      if (swapped) cost = Math.min(cost, at(before, column - 2) + 1);
      current.push(cost);
    }
    before = previous;
    previous = current;
  }
  return at(previous, b.length);
}

const at = (row: readonly number[], index: number): number => row[index] ?? Number.POSITIVE_INFINITY;

/** An equals sign may begin no word: zsh would look for a program of that name. */
const PLAIN = /^[\w./:@+-][\w./:@+,%=-]*$/;

/** A word as a shell takes it literally: what an agent wrote must do nothing when a person pastes the line. */
export const shellWord = (text: string): string =>
  PLAIN.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
