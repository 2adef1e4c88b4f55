export { type Cloud, type CloudOptions, startCloud } from './cloud.ts';
export { type BusEvent, type EventBusOptions, type LocalEventBus, startEventBus } from './event-bus.ts';
