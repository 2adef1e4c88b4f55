export { type Cloud, type CloudOptions, startCloud } from './cloud.ts';
export type { BusEvent } from './event-bus.ts';
