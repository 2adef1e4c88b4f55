import { jobToWire, leaseToWire, workerToWire } from '@waybill/client';
import { invalidField, WORKER_DIRECTIVES } from '@waybill/core';
import { answer } from '../http/answer.ts';
import { readBody } from '../http/body.ts';
import type { App, Ctx } from '../http/env.ts';
import { portOf } from '../http/port.ts';
import type { Surface } from '../surface.ts';
import { fetchJobs } from './fetch.ts';
import { beat } from './heartbeat.ts';
import { readAck, readNack } from './settle.ts';
import { UndeliveredClaims } from './undelivered.ts';

/** The calls of a worker: take jobs, say what became of them, and stay alive meanwhile. */
export function workerRoutes(app: App, surface: Surface): void {
  const { maxBodyBytes } = surface;
  const undelivered = new UndeliveredClaims(surface.logger);

  app.post('/ojs/v1/workers/fetch', async (c) => {
    const body = await readBody(c, maxBodyBytes);
    const leases = await fetchJobs(portOf(c).jobs, body, c, undelivered);
    const jobs = leases.map(leaseToWire);
    return answer(c, { jobs, job: jobs[0] ?? null });
  });

  // The suites read `id` and `job`, the specification's clients `job_id` and the fields beside it: both get theirs.
  app.post('/ojs/v1/workers/ack', async (c) => {
    const call = readAck(await readBody(c, maxBodyBytes), surface);
    const job = jobToWire(await portOf(c).jobs.settle(call));
    const { id, state, completed_at } = job;
    return answer(c, { acknowledged: true, job_id: id, id, state, completed_at, job });
  });

  app.post('/ojs/v1/workers/nack', async (c) => {
    const call = readNack(await readBody(c, maxBodyBytes), surface);
    const job = jobToWire(await portOf(c).jobs.settle(call));
    const { id, state, attempt, max_attempts, next_attempt_at, discarded_at, completed_at } = job;
    // A discarded job still shows the delay of an earlier retry; as an answer to this call it would mislead.
    const retry_delay_ms = state === 'retryable' ? job.retry_delay_ms : undefined;
    const next = { next_attempt_at, retry_delay_ms, discarded_at, completed_at };
    return answer(c, { job_id: id, id, state, attempt, max_attempts, ...next, job });
  });

  app.post('/ojs/v1/workers/heartbeat', async (c) =>
    answer(c, await beat(portOf(c).jobs, surface, await readBody(c, maxBodyBytes))),
  );

  app.get('/ojs/v1/workers', async (c) => answer(c, { workers: (await portOf(c).workers.list()).map(workerToWire) }));

  app.post('/ojs/v1/workers/:id/directive', async (c) => {
    const id = workerIn(c);
    const directive = (await readBody(c, maxBodyBytes)).oneOf('directive', WORKER_DIRECTIVES);
    if (directive === undefined) throw invalidField('directive', 'is required.', { allowed: WORKER_DIRECTIVES });
    return answer(c, { worker: workerToWire(await portOf(c).workers.direct(id, directive)) });
  });
}

const WORKER_ID = /^\P{Cc}{1,256}$/u;

/** As a worker may call itself, but for control characters: not every store could be asked for those. */
function workerIn(c: Ctx): string {
  const id = c.req.param('id') ?? '';
  if (WORKER_ID.test(id)) return id;
  throw invalidField('id', 'must have 1 to 256 characters, none of them a control character.');
}
