import type { JobState } from '../job/job.ts';
import type { JsonObject } from '../json.ts';

/** What can be looked at, each by itself. */
export const CHECK_NAMES = [
  'running-jobs',
  'queue-age',
  'dead-letters',
  'late-crons',
  'sink-lag',
  'live-workers',
  'sweep-lag',
  'clock-skew',
] as const;

export type CheckName = (typeof CHECK_NAMES)[number];

export const ALARMS = ['warning', 'critical'] as const;
export type Alarm = (typeof ALARMS)[number];

/** Something that is not as it should be. */
export interface Finding {
  check: CheckName;
  /** What it is about, the same as long as it lasts: `job:ID`, `queue:NAME`, `cron:NAME`, `sink:ID`, .. */
  subject: string;
  severity: Alarm;
  /** One sentence for people. */
  title: string;
  queue?: string;
  jobId?: string;
  /** What was measured. */
  facts: JsonObject;
}

/** `warning`: silent for a while. `critical`: stuck. `overtime`: it runs for too long, silent or not. */
export type RunHealth = 'healthy' | 'warning' | 'critical' | 'overtime';

export interface JobHealth {
  id: string;
  type: string;
  queue: string;
  state: JobState;
  /** Null: it does not run. */
  health: RunHealth | null;
  run: number;
  workerId: string | null;
  /** Since the run began; null: it does not run. */
  elapsedMs: number | null;
  /** Since the last sign of life; null: it does not run. */
  silentMs: number | null;
  lastEvent: 'job.started' | 'job.heartbeat' | null;
  /** What the run has said of itself last. Only where one job is asked about. */
  activity?: string;
}

/** `total` are the jobs that run; those that began a moment ago count as healthy and are not looked at one by one. */
export interface RunSummary extends Record<RunHealth, number> {
  total: number;
}

export interface HealthReport {
  status: 'healthy' | Alarm;
  tenant: string;
  at: number;
  /** What is critical first. */
  findings: readonly Finding[];
  jobs: RunSummary;
  /** Jobs that run, the worst first, as many as a report may have. */
  tasks: readonly JobHealth[];
  /** Checks that saw only a part of what there is, because there is more than one look may read. */
  cut: readonly CheckName[];
  /** Checks that could not be made; what they are about is not known. */
  failed: readonly { check: CheckName; reason: string }[];
  /** What is about the server and its store, not about a tenant. Absent for callers that do not operate it. */
  server?: Pick<HealthReport, 'status' | 'findings' | 'cut' | 'failed'>;
}

/** What one round over all tenants came to. */
export interface RoundReport {
  tenants: number;
  opened: number;
  escalated: number;
  closed: number;
  /** More tenants than one round looks at: the next one goes on behind them. */
  cut: boolean;
}

/** Whether things get on: jobs, queues, schedules, sinks, workers, maintenance. */
export interface HealthChecks {
  /**
   * Looks at one tenant now, and changes nothing. `server: false` leaves out what is about the server as a whole, which
   * only operators are shown.
   */
  run(context?: { tenant?: string; server?: boolean }): Promise<HealthReport>;
  /** Looks at one job. Refused with `not_found` where there is none. */
  job(id: string, context?: { tenant?: string }): Promise<JobHealth>;
  /**
   * Looks at all tenants at once, whatever the interval, and opens, escalates and closes incidents. Null: another server is
   * at it. For whoever has no server that does it. Absent with a server in between.
   */
  round?(): Promise<RoundReport | null>;
}
