// What measures and runs this package, for tests and the benchmark.

export { hasJava, type LocalDynamo, localClient, startLocalDynamo } from './local-dynamo.ts';
export { Meter, type Use } from './meter.ts';
