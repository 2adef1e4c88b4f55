import { explanationToWire, jobToWire } from '@waybill/client';
import { type Fields, invalidField, isObject, type JobRequest, WaybillError } from '@waybill/core';
import { answer } from '../http/answer.ts';
import { readBody, readJson, readOptionalBody } from '../http/body.ts';
import type { App, Ctx } from '../http/env.ts';
import { allowOnly } from '../http/errors.ts';
import { pathId } from '../http/path-id.ts';
import { checkTenantOf, portOf } from '../http/port.ts';
import { Query } from '../http/query.ts';
import type { Surface } from '../surface.ts';
import { FILTERS, filterInQuery, jobFilter, STATE_FILTERS } from './job-filter.ts';
import { jobPage } from './job-page.ts';
import { PAGE_PARAMETERS, pageAsked, pageBehind } from './pagination.ts';
import { LARGEST_TOLD, toldJob } from './told-job.ts';

const MAX_BATCH = 1_000;
const DEFAULT_LIMIT = 50;
const KEY = /^[\x20-\x7e]{1,255}$/;

/** Producing, reading and cancelling jobs. */
export function jobRoutes(app: App, { maxBodyBytes }: Surface): void {
  app.post('/ojs/v1/jobs', async (c) => {
    const idempotencyKey = keyOf(c);
    // The engine checks the envelope, field by field.
    const request = (await readJson(c, maxBodyBytes)) as JobRequest;
    checkTenantOf(c, request);
    const context = idempotencyKey === undefined ? {} : { idempotencyKey };
    const { job, created } = await portOf(c).jobs.enqueue(request, context);
    if (created) c.header('Location', `/ojs/v1/jobs/${job.id}`);
    return answer(c, { job: jobToWire(job), ...(!created && { deduplicated: true }) }, created ? 201 : 200);
  });

  app.post('/ojs/v1/jobs/batch', async (c) => {
    refuseKey(c);
    const requests = requestsOf(await readBody(c, maxBodyBytes));
    requests.forEach((request, index) => {
      checkTenantOf(c, request, `jobs[${index}].meta`);
    });
    const stored = await portOf(c).jobs.enqueueMany(requests);
    return answer(c, { jobs: stored.map((job) => jobToWire(job)), count: stored.length }, 201);
  });

  app.get('/ojs/v1/jobs', async (c) => {
    const filters = [...FILTERS, ...STATE_FILTERS] as const;
    const query = new Query(c, [...filters, ...PAGE_PARAMETERS]);
    const asked = pageAsked(query, DEFAULT_LIMIT);
    const filter = jobFilter(filterInQuery(query, filters));
    const { jobs } = portOf(c);
    const found = await pageBehind((page) => jobs.list({ ...page, filter, overBytes: LARGEST_TOLD }), asked);
    return answer(c, await jobPage(jobs, found, asked));
  });

  allowOnly(app, '/ojs/v1/jobs/batch', ['POST']);

  app.get('/ojs/v1/jobs/:id', async (c) => {
    const { jobs } = portOf(c);
    return answer(c, { job: await toldJob(jobs, await jobs.get(pathId(c), { overBytes: LARGEST_TOLD })) });
  });

  app.get('/ojs/v1/jobs/:id/explain', async (c) => {
    new Query(c, []);
    return answer(c, { ...explanationToWire(await portOf(c).jobs.explain(pathId(c))) });
  });

  app.delete('/ojs/v1/jobs/:id', async (c) => {
    const query = new Query(c, ['by', 'reason']);
    const by = query.string('by', { max: 255 });
    const reason = query.string('reason');
    const told = { ...(by !== undefined && { by }), ...(reason !== undefined && { reason }) };
    return answer(c, { job: jobToWire(await portOf(c).jobs.cancel(pathId(c), told)) });
  });

  app.post('/ojs/v1/jobs/:id/activate', async (c) => {
    const id = pathId(c);
    await readOptionalBody(c, maxBodyBytes);
    return answer(c, { job: jobToWire(await portOf(c).jobs.activate(id)) });
  });

  app.post('/ojs/v1/jobs/:id/retry', async (c) => {
    const id = pathId(c);
    await readOptionalBody(c, maxBodyBytes);
    return answer(c, { job: jobToWire(await portOf(c).jobs.retry(id)) });
  });
}

function requestsOf(body: Fields): JobRequest[] {
  const items = body.array('jobs', { max: MAX_BATCH });
  if (items === undefined || items.length === 0) throw invalidField('jobs', 'must be an array of at least one job.');
  const wrong = items.findIndex((item) => !isObject(item));
  if (wrong >= 0) throw invalidField(`jobs[${wrong}]`, 'must be an object.', { index: wrong });
  return items as JobRequest[];
}

function keyOf(c: Ctx): string | undefined {
  const key = c.req.header('Idempotency-Key');
  if (key === undefined || KEY.test(key)) return key;
  throw invalidField('Idempotency-Key', 'must have 1 to 255 printable ASCII characters.');
}

/** Ignoring the key would let a client repeat a batch that it believes to be safe. */
function refuseKey(c: Ctx): void {
  if (c.req.header('Idempotency-Key') === undefined) return;
  throw new WaybillError('unsupported', 'A batch takes no Idempotency-Key.', {
    hint: 'Give each job an id of its own: a batch that was stored is then refused as a duplicate.',
  });
}
