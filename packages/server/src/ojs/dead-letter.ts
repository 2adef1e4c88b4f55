import { jobToWire } from '@waybill/client';
import { checkQueue, Fields, invalidField, type JobFilter, WaybillError } from '@waybill/core';
import { answer } from '../http/answer.ts';
import { readBody, readOptionalBody } from '../http/body.ts';
import type { App } from '../http/env.ts';
import { readMoment } from '../http/moment.ts';
import { pathId } from '../http/path-id.ts';
import { Query } from '../http/query.ts';
import type { Surface } from '../surface.ts';
import { jobPage } from './job-page.ts';

const DEFAULT_LIMIT = 50;
const FILTERS = ['queue', 'type', 'error_type', 'since', 'until'] as const;

type Sent = { [name in (typeof FILTERS)[number]]?: string | undefined };

/** Jobs that were given up and kept for repair. */
export function deadLetterRoutes(app: App, { waybill: { deadLetters }, maxBodyBytes }: Surface): void {
  app.get('/ojs/v1/dead-letter', async (c) => {
    const query = new Query(c, [...FILTERS, 'limit', 'cursor']);
    const page = query.page(DEFAULT_LIMIT);
    return answer(c, jobPage(await deadLetters.list({ ...page, filter: filterOf(sentIn(query)) }), page.limit));
  });

  app.delete('/ojs/v1/dead-letter', async (c) => {
    const query = new Query(c, [...FILTERS, 'confirm']);
    confirm(query.string('confirm') === 'true');
    const { discarded, more } = await deadLetters.discardMany(filterOf(sentIn(query)));
    return answer(c, { deleted: discarded, has_more: more });
  });

  app.post('/ojs/v1/dead-letter/retry', async (c) => {
    const body = await readBody(c, maxBodyBytes);
    confirm(body.boolean('confirm') === true);
    const { replayed, more } = await deadLetters.replayMany(filterOf(filterIn(body)));
    return answer(c, { retried: replayed, has_more: more });
  });

  app.get('/ojs/v1/dead-letter/stats', async (c) => answer(c, await deadLetters.stats()));

  app.get('/ojs/v1/dead-letter/:id', async (c) => answer(c, { job: jobToWire(await deadLetters.get(pathId(c))) }));

  app.delete('/ojs/v1/dead-letter/:id', async (c) => {
    const job = await deadLetters.discard(pathId(c));
    return answer(c, { deleted: true, job_id: job.id });
  });

  app.post('/ojs/v1/dead-letter/:id/retry', async (c) => {
    const id = pathId(c);
    const body = await readOptionalBody(c, maxBodyBytes);
    if (body.has('override')) throw new WaybillError('unsupported', 'A job is retried as it is: no override is taken.');
    return answer(c, { job: jobToWire(await deadLetters.replay(id)) });
  });
}

/** These calls take every dead job when no filter narrows them, so they want to be meant. */
function confirm(isMeant: boolean): void {
  if (!isMeant) throw invalidField('confirm', 'must be true: this changes every dead job that the filter matches.');
}

function sentIn(query: Query): Sent {
  return Object.fromEntries(FILTERS.map((name) => [name, query.string(name)]));
}

function filterIn(body: Fields): Sent {
  const sent = body.fields('filter') ?? new Fields({});
  const unknown = Object.keys(sent.rest(new Set(FILTERS)) ?? {})[0];
  if (unknown !== undefined) {
    throw invalidField(sent.name(unknown.slice(0, 100)), 'is not a filter.', { allowed: FILTERS });
  }
  return Object.fromEntries(FILTERS.map((name) => [name, sent.has(name) ? sent.requiredString(name) : undefined]));
}

function filterOf({ queue, type, error_type, since, until }: Sent): Partial<JobFilter> {
  const finishedAfter = readMoment('since', since);
  const finishedBefore = readMoment('until', until);
  return {
    ...(queue !== undefined && { queues: [checkQueue(queue, 'queue')] }),
    ...(type !== undefined && { types: [type] }),
    ...(error_type !== undefined && { errorType: error_type }),
    ...(finishedAfter !== undefined && { finishedAfter }),
    ...(finishedBefore !== undefined && { finishedBefore }),
  };
}
