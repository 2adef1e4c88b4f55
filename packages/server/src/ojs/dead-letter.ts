import { jobToWire, skippedToWire } from '@waybill/client';
import { Fields, invalidField, WaybillError } from '@waybill/core';
import { answer } from '../http/answer.ts';
import { readBody, readOptionalBody } from '../http/body.ts';
import type { App } from '../http/env.ts';
import { allowOnly } from '../http/errors.ts';
import { pathId } from '../http/path-id.ts';
import { portOf } from '../http/port.ts';
import { MAX_LIMIT, Query } from '../http/query.ts';
import type { Surface } from '../surface.ts';
import { DEAD_FILTERS, FILTERS, filterInBody, filterInQuery, jobFilter } from './job-filter.ts';
import { jobPage } from './job-page.ts';
import { PAGE_PARAMETERS, pageAsked, pageBehind } from './pagination.ts';
import { toldJob } from './told-job.ts';

const DEFAULT_LIMIT = 50;
const NARROWED_BY = [...FILTERS, ...DEAD_FILTERS] as const;

/** Jobs that were given up and kept for repair. */
export function deadLetterRoutes(app: App, { maxBodyBytes }: Surface): void {
  app.get('/ojs/v1/dead-letter', async (c) => {
    const query = new Query(c, [...NARROWED_BY, ...PAGE_PARAMETERS]);
    const asked = pageAsked(query, DEFAULT_LIMIT);
    const filter = jobFilter(filterInQuery(query, NARROWED_BY));
    const { jobs, deadLetters } = portOf(c);
    const [found, { total }] = await Promise.all([
      pageBehind((page) => deadLetters.list({ ...page, filter }), asked),
      deadLetters.stats(filter),
    ]);
    return answer(c, await jobPage(jobs, found, { ...asked, total }));
  });

  app.delete('/ojs/v1/dead-letter', async (c) => {
    const query = new Query(c, [...NARROWED_BY, 'limit', 'confirm']);
    confirm(query.string('confirm') === 'true');
    const filter = jobFilter(filterInQuery(query, NARROWED_BY));
    const { discarded, more } = await portOf(c).deadLetters.discardMany(filter, bound(query.limit(0) || undefined));
    return answer(c, { deleted: discarded, has_more: more });
  });

  app.post('/ojs/v1/dead-letter/retry', async (c) => {
    const body = await readBody(c, maxBodyBytes);
    confirm(body.boolean('confirm') === true);
    const filter = jobFilter(filterInBody(body.fields('filter') ?? new Fields({}), NARROWED_BY));
    const limit = body.integer('limit', { min: 1, max: MAX_LIMIT });
    const { replayed, more, skipped } = await portOf(c).deadLetters.replayMany(filter, bound(limit));
    return answer(c, { retried: replayed, has_more: more, ...(skipped && { skipped: skippedToWire(skipped) }) });
  });

  app.get('/ojs/v1/dead-letter/stats', async (c) => {
    const filter = jobFilter(filterInQuery(new Query(c, NARROWED_BY), NARROWED_BY));
    return answer(c, await portOf(c).deadLetters.stats(filter));
  });

  allowOnly(app, '/ojs/v1/dead-letter/retry', ['POST']);
  allowOnly(app, '/ojs/v1/dead-letter/stats', ['GET']);

  app.get('/ojs/v1/dead-letter/:id', async (c) => {
    const { jobs, deadLetters } = portOf(c);
    return answer(c, { job: await toldJob(jobs, await deadLetters.get(pathId(c))) });
  });

  app.delete('/ojs/v1/dead-letter/:id', async (c) => {
    const job = await portOf(c).deadLetters.discard(pathId(c));
    return answer(c, { deleted: true, job_id: job.id, job: jobToWire(job) });
  });

  app.post('/ojs/v1/dead-letter/:id/retry', async (c) => {
    const id = pathId(c);
    const body = await readOptionalBody(c, maxBodyBytes);
    if (body.has('override')) throw new WaybillError('unsupported', 'A job is retried as it is: no override is taken.');
    return answer(c, { job: jobToWire(await portOf(c).deadLetters.replay(id)) });
  });
}

/** These calls take every dead job when no filter narrows them, so they want to be meant. */
function confirm(isMeant: boolean): void {
  if (!isMeant) throw invalidField('confirm', 'must be true: this changes every dead job that the filter matches.');
}

/** All of them where no number is given. */
const bound = (limit: number | undefined): { atMost?: number } => (limit === undefined ? {} : { atMost: limit });
