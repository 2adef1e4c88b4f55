import type { WorkerInfo } from '../store/workers.ts';

/** Three heartbeats of a worker with the default pause between them. */
export const LIVE_MS = 60_000;

/** Whether the worker has lately been heard of. One that sends no heartbeats is not known at all. */
export const isLive = ({ lastSeenAt }: WorkerInfo, now: number): boolean => lastSeenAt > now - LIVE_MS;
