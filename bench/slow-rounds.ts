import { median, type Result, round, timePerJob } from './result.ts';

const TIMES_THE_MEDIAN = 3;

/** Rounds that took more than three times the median, such as one in which the system stalled. */
export function slowRounds(own: readonly Result[]): string[] {
  const usual = median(own.map(timePerJob));
  return own
    .map((result, index) => ({ number: result.round ?? index + 1, times: timePerJob(result) / usual }))
    .filter(({ times }) => times > TIMES_THE_MEDIAN)
    .map(({ number, times }) => `round ${number} took ${times.toFixed(1)} times the median`);
}

/** Nothing where there is only one round. */
export function slowestRound(own: readonly Result[]): string {
  if (own.length < 2) return '';
  const slowest = own.reduce((worst, result) => (timePerJob(result) > timePerJob(worst) ? result : worst));
  const { p50_ms, seconds } = slowest;
  return `slowest round ${p50_ms === undefined ? `${round(seconds)} s` : `p50 ${p50_ms} ms`}`;
}
