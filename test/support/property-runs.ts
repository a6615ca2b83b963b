/** How often a property is tried: fewer times where the same tests run for each of many mutations. */
export const propertyRuns = (runs: number): number =>
  Math.ceil(runs * Number(process.env.COUNTERSIGN_TEST_PROPERTY_SHARE ?? 1));
