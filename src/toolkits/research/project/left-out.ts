/** Codings that are not counted: those on these sources or by these coders. */
export interface LeftOut {
  readonly sources: readonly number[];
  readonly owners: readonly string[];
}
