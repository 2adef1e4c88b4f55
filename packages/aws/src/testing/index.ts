// What measures and runs this package, for tests and the benchmark.

export { answered, FaultyProxy } from './faulty-proxy.ts';
export { hasJava, type LocalDynamo, localClient, startLocalDynamo } from './local-dynamo.ts';
export { Meter, type Use } from './meter.ts';
