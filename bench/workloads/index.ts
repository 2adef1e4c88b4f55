import type { Workload } from '../result.ts';
import { enqueueBulk, enqueueOne } from './enqueue.ts';
import { chain, parked, parkedBeside, workflow } from './growth.ts';

export const WORKLOADS: Record<string, Workload> = {
  'enqueue-one': enqueueOne,
  'enqueue-bulk': enqueueBulk,
  'parked-beside': parkedBeside,
  parked,
  workflow,
  chain,
};
