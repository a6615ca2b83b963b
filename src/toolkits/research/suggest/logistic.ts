/** Rows of equal width, one after the other. */
export interface Rows {
  readonly width: number;
  readonly values: Float64Array;
  readonly labels: Float64Array;
  readonly weights: Float64Array;
}

export interface Logistic {
  /** For raw values: the standardisation of the fit is folded in. */
  readonly coefficients: readonly number[];
  readonly intercept: number;
}

export const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x));

export function logitOf({ coefficients, intercept }: Logistic, row: ArrayLike<number>): number {
  let sum = intercept;
  for (let at = 0; at < coefficients.length; at += 1) sum += (coefficients[at] ?? 0) * (row[at] ?? 0);
  return sum;
}

const ROUNDS = 40;

/**
 * Logistic regression with a ridge on standardised columns, by Newton's method. Steps are halved until the loss falls: plain Newton
 * diverges on columns that nearly separate the labels.
 */
export function fitLogistic(rows: Rows, ridge = 1): Logistic {
  const { width, values, labels, weights } = rows;
  const count = labels.length;
  const { means, scales } = standards(rows);
  const size = width + 1;
  const scaled = new Float64Array(count * size);
  for (let row = 0; row < count; row += 1) {
    for (let at = 0; at < width; at += 1)
      scaled[row * size + at] = ((values[row * width + at] ?? 0) - (means[at] ?? 0)) / (scales[at] ?? 1);
    scaled[row * size + width] = 1;
  }
  const lossOf = (beta: Float64Array): number => {
    let loss = 0;
    for (let at = 0; at < width; at += 1) loss += 0.5 * ridge * (beta[at] ?? 0) ** 2;
    for (let row = 0; row < count; row += 1) {
      const x = dot(scaled, row * size, beta);
      loss += (weights[row] ?? 0) * (softplus(x) - (labels[row] ?? 0) * x);
    }
    return loss;
  };
  let beta = new Float64Array(size);
  let loss = lossOf(beta);
  for (let round = 0; round < ROUNDS; round += 1) {
    const step = newtonStep(scaled, size, rows, beta, ridge);
    let next = beta.map((value, at) => value + (step[at] ?? 0));
    let lower = lossOf(next);
    for (let halving = 0; !(lower < loss) && halving < 20; halving += 1) {
      for (let at = 0; at < size; at += 1) step[at] = (step[at] ?? 0) / 2;
      next = beta.map((value, at) => value + (step[at] ?? 0));
      lower = lossOf(next);
    }
    if (!(lower < loss)) break;
    const gain = loss - lower;
    beta = next;
    loss = lower;
    if (gain < 1e-7 * Math.abs(loss)) break;
  }
  const coefficients = Array.from({ length: width }, (_, at) => (beta[at] ?? 0) / (scales[at] ?? 1));
  const shift = coefficients.reduce((sum, value, at) => sum + value * (means[at] ?? 0), 0);
  return { coefficients, intercept: (beta[width] ?? 0) - shift };
}

function standards({ width, values, weights }: Rows) {
  const means = new Float64Array(width);
  const scales = new Float64Array(width);
  const total = weights.reduce((sum, weight) => sum + weight, 0) || 1;
  for (const [row, weight] of weights.entries())
    for (let at = 0; at < width; at += 1)
      means[at] = (means[at] ?? 0) + (weight * (values[row * width + at] ?? 0)) / total;
  for (const [row, weight] of weights.entries())
    for (let at = 0; at < width; at += 1)
      scales[at] =
        (scales[at] ?? 0) + (weight * ((values[row * width + at] ?? 0) - (means[at] ?? 0)) ** 2) / total;
  return { means, scales: scales.map((square) => Math.sqrt(square) || 1) };
}

function newtonStep(scaled: Float64Array, size: number, rows: Rows, beta: Float64Array, ridge: number) {
  const gradient = new Float64Array(size);
  const hessian = new Float64Array(size * size);
  for (let at = 0; at < size - 1; at += 1) {
    gradient[at] = -ridge * (beta[at] ?? 0);
    hessian[at * size + at] = ridge;
  }
  hessian[size * size - 1] = 1e-6;
  for (let row = 0; row < rows.labels.length; row += 1) {
    const from = row * size;
    const p = sigmoid(dot(scaled, from, beta));
    const weight = rows.weights[row] ?? 0;
    const error = weight * ((rows.labels[row] ?? 0) - p);
    const curve = weight * p * (1 - p);
    for (let i = 0; i < size; i += 1) {
      const value = scaled[from + i] ?? 0;
      gradient[i] = (gradient[i] ?? 0) + error * value;
      const scale = curve * value;
      for (let j = 0; j <= i; j += 1)
        hessian[i * size + j] = (hessian[i * size + j] ?? 0) + scale * (scaled[from + j] ?? 0);
    }
  }
  return solve(hessian, gradient, size);
}

/** Cholesky; the lower triangle of `matrix` is used and overwritten. */
function solve(matrix: Float64Array, right: Float64Array, size: number): Float64Array {
  for (let i = 0; i < size; i += 1) {
    for (let j = 0; j <= i; j += 1) {
      let sum = matrix[i * size + j] ?? 0;
      for (let k = 0; k < j; k += 1) sum -= (matrix[i * size + k] ?? 0) * (matrix[j * size + k] ?? 0);
      matrix[i * size + j] = i === j ? Math.sqrt(Math.max(sum, 1e-9)) : sum / (matrix[j * size + j] || 1e-9);
    }
  }
  const x = Float64Array.from(right);
  for (let i = 0; i < size; i += 1) {
    for (let k = 0; k < i; k += 1) x[i] = (x[i] ?? 0) - (matrix[i * size + k] ?? 0) * (x[k] ?? 0);
    x[i] = (x[i] ?? 0) / (matrix[i * size + i] || 1e-9);
  }
  for (let i = size - 1; i >= 0; i -= 1) {
    for (let k = i + 1; k < size; k += 1) x[i] = (x[i] ?? 0) - (matrix[k * size + i] ?? 0) * (x[k] ?? 0);
    x[i] = (x[i] ?? 0) / (matrix[i * size + i] || 1e-9);
  }
  return x;
}

function dot(values: Float64Array, from: number, beta: Float64Array): number {
  let sum = 0;
  for (let at = 0; at < beta.length; at += 1) sum += (values[from + at] ?? 0) * (beta[at] ?? 0);
  return sum;
}

const softplus = (x: number): number => (x > 30 ? x : Math.log1p(Math.exp(x)));
