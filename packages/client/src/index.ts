// What callers of the HTTP API need.

export { ERROR_TABLE, type ErrorFacts, errorFromWire, type WireError } from './error-wire.ts';
export type { WireEvent } from './event-wire.ts';
export type { WireJob, WireJobError } from './job-wire.ts';

// What servers need to speak it.

export { type ErrorMeaning, errorToWire } from './error-wire.ts';
export { eventToWire } from './event-wire.ts';
export { classIn, jobToWire } from './job-wire.ts';
export { toRfc3339 } from './time.ts';
