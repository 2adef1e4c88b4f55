import type { System } from '../queue.ts';

/** Everything that can be opened as a queue. Loaded when it is run, so that no library pays for another one's memory. */
export const SYSTEMS = {
  waybill: async () => (await import('./waybill.ts')).waybill,
  'waybill-lean': async () => (await import('./waybill.ts')).waybillLean,
  'waybill-keep-none': async () => (await import('./waybill.ts')).waybillKeepNone,
  'waybill-telemetry': async () => (await import('./waybill-telemetry.ts')).waybillTelemetry,
  'waybill-traced-by-sdk': async () => (await import('./waybill-telemetry.ts')).waybillTracedBySdk,
  'waybill-untraced': async () => (await import('./waybill-telemetry.ts')).waybillUntraced,
  'waybill-metrics': async () => (await import('./waybill-telemetry.ts')).waybillMetrics,
  'waybill-all-traced': async () => (await import('./waybill-telemetry.ts')).waybillAllTraced,
  'graphile-worker': async () => (await import('./graphile-worker.ts')).graphileWorker,
  'graphile-worker-tuned': async () => (await import('./graphile-worker.ts')).graphileWorkerTuned,
  'pg-boss': async () => (await import('./pg-boss.ts')).pgBoss,
  'pg-boss-tuned': async () => (await import('./pg-boss.ts')).pgBossTuned,
  'pg-boss-notified': async () => (await import('./pg-boss.ts')).pgBossNotified,
  bullmq: async () => (await import('./bullmq.ts')).bullmq,
  raw: async () => (await import('./raw-postgres.ts')).rawPostgres,
} satisfies Record<string, () => Promise<System>>;

export type SystemName = keyof typeof SYSTEMS;
