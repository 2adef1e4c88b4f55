import type { Workload } from '../result.ts';
import { drain, drainHistory, latency } from './drain.ts';
import { enqueueBulk, enqueueOne } from './enqueue.ts';
import { chain, parked, parkedBeside, workflow } from './growth.ts';
import { httpEnqueue, httpFetchAck } from './http.ts';

export const WORKLOADS: Record<string, Workload> = {
  'enqueue-one': enqueueOne,
  'enqueue-bulk': enqueueBulk,
  drain,
  latency,
  'drain-history': drainHistory,
  'http-enqueue': httpEnqueue,
  'http-fetch-ack': httpFetchAck,
  'parked-beside': parkedBeside,
  parked,
  workflow,
  chain,
};
