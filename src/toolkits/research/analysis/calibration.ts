/** Turns log odds of the scorer into a probability that a coder would agree. */
export interface Calibration {
  readonly slope: number;
  readonly intercept: number;
  /** How many of the project's own codings it was fitted on; 0: the general setting. */
  readonly codings: number;
}

export const GENERAL: Calibration = { slope: 1, intercept: 0, codings: 0 };

export interface CalibrationSample {
  readonly logOdds: number;
  readonly agreed: boolean;
  readonly weight: number;
}

/** Fewer codings than this say more about chance than about the coder. */
const NEEDED = 30;
/** How strongly the general setting is believed, counted in codings. */
const BELIEF = 20;

/**
 * Logistic calibration (Platt) on codings that people made, each scored as if it were not there yet. It starts from the general setting
 * and leaves it only as far as the codings demand.
 */
export function fitCalibration(samples: readonly CalibrationSample[]): Calibration {
  const codings = samples.filter((sample) => sample.agreed).length;
  if (codings < NEEDED || codings === samples.length) return GENERAL;
  let slope = 1;
  let intercept = 0;
  for (let round = 0; round < 50; round += 1) {
    let [gs, gi] = [BELIEF * (1 - slope), -BELIEF * 0.1 * intercept];
    let [hss, hsi, hii] = [BELIEF, 0, BELIEF * 0.1];
    for (const { logOdds, agreed, weight } of samples) {
      const p = sigmoid(slope * logOdds + intercept);
      const error = weight * ((agreed ? 1 : 0) - p);
      const curve = weight * p * (1 - p);
      gs += error * logOdds;
      gi += error;
      hss += curve * logOdds * logOdds;
      hsi += curve * logOdds;
      hii += curve;
    }
    const determinant = hss * hii - hsi * hsi;
    if (determinant < 1e-9) break;
    const stepSlope = (hii * gs - hsi * gi) / determinant;
    const stepIntercept = (hss * gi - hsi * gs) / determinant;
    slope += stepSlope;
    intercept += stepIntercept;
    if (Math.abs(stepSlope) + Math.abs(stepIntercept) < 1e-6) break;
  }
  // More evidence must never mean less confidence, however odd the codings are.
  return {
    slope: Math.min(3, Math.max(0.2, slope)),
    intercept: Math.min(3, Math.max(-3, intercept)),
    codings,
  };
}

/** 0 to 100; never quite certain. */
export function confidenceOf(logOdds: number, { slope, intercept }: Calibration): number {
  return Math.min(98, Math.round(100 * sigmoid(slope * logOdds + intercept)));
}

const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x));
