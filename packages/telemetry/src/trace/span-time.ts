import type { HrTime } from '@opentelemetry/api';

/** In milliseconds since the epoch, with fractions. The SDK would round a Date to whole ones. */
export const nowMs = (): number => TIME_ORIGIN + performance.now();

/** Read once: it is the same for as long as the process lives, and a getter that costs more than the clock. */
const TIME_ORIGIN = performance.timeOrigin;

/** The form that the SDK keeps. It asks two clocks for each number that it is given instead. */
export const hrTimeOf = (ms: number): HrTime => [Math.trunc(ms / 1_000), Math.round((ms % 1_000) * 1e6)];
