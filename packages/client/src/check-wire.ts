import type { Alarm, CheckName, Finding, HealthReport, JobHealth, JsonObject, RunSummary } from '@waybill/core';
import { present } from './present.ts';
import { toRfc3339 } from './time.ts';

export interface WireFinding {
  check: CheckName;
  subject: string;
  severity: Alarm;
  title: string;
  queue?: string;
  job_id?: string;
  facts: JsonObject;
}

export interface WireJobHealth {
  job_id: string;
  job_type: string;
  queue: string;
  state: JobHealth['state'];
  run: number;
  /** Absent where it does not run. */
  health?: NonNullable<JobHealth['health']>;
  elapsed_ms?: number;
  silent_ms?: number;
  last_event?: NonNullable<JobHealth['lastEvent']>;
  worker_id?: string;
  activity?: string;
}

interface WireLook {
  status: HealthReport['status'];
  findings: WireFinding[];
  cut: CheckName[];
  failed: { check: CheckName; reason: string }[];
}

export interface WireHealthReport extends WireLook {
  checked_at: string;
  jobs: RunSummary;
  tasks: WireJobHealth[];
  /** Absent for callers that do not operate the server. */
  server?: WireLook;
}

const findingToWire = ({ jobId, queue, ...rest }: Finding): WireFinding => ({
  ...rest,
  ...present('queue', queue),
  ...present('job_id', jobId),
});

const findingFromWire = ({ job_id, ...rest }: WireFinding): Finding => ({ ...rest, ...present('jobId', job_id) });

type Look = Pick<HealthReport, 'status' | 'findings' | 'cut' | 'failed'>;

const lookToWire = ({ status, findings, cut, failed }: Look): WireLook => ({
  ...{ status, findings: findings.map(findingToWire), cut: [...cut], failed: [...failed] },
});

const lookFromWire = ({ status, findings, cut, failed }: WireLook): Look => ({
  ...{ status, findings: findings.map(findingFromWire), cut, failed },
});

export const jobHealthToWire = (job: JobHealth): WireJobHealth => ({
  ...{ job_id: job.id, job_type: job.type, queue: job.queue, state: job.state, run: job.run },
  ...present('health', job.health),
  ...present('elapsed_ms', job.elapsedMs),
  ...present('silent_ms', job.silentMs),
  ...present('last_event', job.lastEvent),
  ...present('worker_id', job.workerId),
  ...present('activity', job.activity),
});

export const jobHealthFromWire = (wire: WireJobHealth): JobHealth => ({
  ...{ id: wire.job_id, type: wire.job_type, queue: wire.queue, state: wire.state, run: wire.run },
  ...{ health: wire.health ?? null, elapsedMs: wire.elapsed_ms ?? null, silentMs: wire.silent_ms ?? null },
  ...{ lastEvent: wire.last_event ?? null, workerId: wire.worker_id ?? null },
  ...present('activity', wire.activity),
});

export const healthReportToWire = ({ at, jobs, tasks, server, ...look }: HealthReport): WireHealthReport => ({
  ...lookToWire(look),
  ...{ checked_at: toRfc3339(at), jobs, tasks: tasks.map(jobHealthToWire) },
  ...(server && { server: lookToWire(server) }),
});

export const healthReportFromWire = (wire: WireHealthReport, tenant: string): HealthReport => ({
  ...lookFromWire(wire),
  ...{ tenant, at: Date.parse(wire.checked_at), jobs: wire.jobs, tasks: wire.tasks.map(jobHealthFromWire) },
  ...(wire.server && { server: lookFromWire(wire.server) }),
});
