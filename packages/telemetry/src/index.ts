// What users and the command call.

export type { ObservedAnswer, ObservedRequest, ObservedRpc, RequestObserver } from './http/request-observer.ts';
export { instrument } from './instrument.ts';
export type { AwsObserver, Instrumentation, InstrumentOptions, Watching } from './instrumentation.ts';
export { METRICS, type MetricInfo } from './metrics/metrics-table.ts';
export type { StreamObserver } from './metrics/stream-metrics.ts';
export { registerSdk, type SdkParts } from './register.ts';
export { tracedLogger } from './trace/traced-logger.ts';
