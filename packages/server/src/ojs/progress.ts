import { progressToWire, toRfc3339 } from '@waybill/client';
import {
  type EventType,
  type Fields,
  type LoggedEvent,
  type Progress,
  type ReportCall,
  WaybillError,
} from '@waybill/core';
import { answer } from '../http/answer.ts';
import { readBody } from '../http/body.ts';
import type { App, Ctx } from '../http/env.ts';
import { pathId } from '../http/path-id.ts';
import { portOf } from '../http/port.ts';
import { Query } from '../http/query.ts';
import { streamEvents } from '../stream/sse.ts';
import type { Surface } from '../surface.ts';
import { leaseTokenOf, workerIdOf } from './fields.ts';

/** The specification's progress extension: how far a run is, told by its worker, read by anybody. */
export function progressRoutes(app: App, surface: Surface): void {
  const { maxBodyBytes } = surface;

  const tell = (c: Ctx, job: Parameters<typeof progressToWire>[0], known: Progress | null) => {
    c.header('Cache-Control', 'no-cache');
    const wire = progressToWire(job, known);
    if (wire.progress !== null) c.header('X-OJS-Progress', String(wire.progress));
    return answer(c, { ...wire });
  };

  const look = async (c: Ctx, id: string) => {
    const { jobs } = portOf(c);
    const [job, known] = await Promise.all([jobs.get(id), jobs.progress(id)]);
    return tell(c, job, known);
  };

  app.get('/ojs/v1/jobs/:id/progress', (c) => look(c, pathId(c)));

  app.put('/ojs/v1/jobs/:id/progress', async (c) => {
    const id = pathId(c);
    const call = readReport(id, await readBody(c, maxBodyBytes));
    const { jobs } = portOf(c);
    const noted = await jobs.report(call).catch((error: unknown) => {
      // Who shows a token wants to know that it is stale; from others the specification wants a late word ignored.
      if (!(error instanceof WaybillError && error.code === 'conflict' && call.leaseToken === undefined)) throw error;
      return null;
    });
    // What was noted is of an active run, and a worker need not have the right to read jobs.
    return noted === null ? look(c, id) : tell(c, { id, state: 'active' }, noted);
  });

  app.get('/ojs/v1/jobs/:id/progress/stream', async (c) => {
    const id = pathId(c);
    new Query(c, []);
    const { jobs, events } = portOf(c);
    await jobs.get(id);
    const types: EventType[] = ['job.progress', ...(Object.keys(ENDS) as EventType[])];
    const after = c.req.header('Last-Event-ID');
    const reading = { ...(after && { after }), filter: { jobIds: [id], types } };
    // A stream has answered 200 before it reads, and a browser would come back with the same bad cursor for ever.
    if (after) await events.read({ ...reading, limit: 1 });
    return streamEvents(c, reading, surface, { text: progressText, isLast: ({ type }) => type in ENDS });
  });
}

/** Under which name the specification announces each end. */
const ENDS: Partial<Record<EventType, string>> = {
  'job.completed': 'completed',
  'job.cancelled': 'cancelled',
  'job.discarded': 'failed',
  'job.expired': 'failed',
  'job.skipped': 'completed',
};

function readReport(id: string, body: Fields): ReportCall {
  const fraction = body.number('progress', { min: Number.NEGATIVE_INFINITY, max: Number.POSITIVE_INFINITY });
  const data = body.object('data');
  const checkpoint = body.object('checkpoint');
  const number = body.integer('number', { min: 1, max: Number.MAX_SAFE_INTEGER });
  return {
    ...{ id, ...leaseTokenOf(body), ...workerIdOf(body) },
    ...(fraction !== undefined && { fraction }),
    ...(data && { data }),
    ...(checkpoint && { checkpoint }),
    ...(number !== undefined && { number }),
  };
}

function progressText({ type, at, data, cursor }: LoggedEvent): string {
  const end = ENDS[type];
  const body =
    end === undefined
      ? { progress: data['progress'] ?? null, data: data['data'] ?? null }
      : { ...(end === 'completed' && { progress: 1 }), state: type.slice('job.'.length) };
  return `id: ${cursor}\nevent: ${end ?? 'progress'}\ndata: ${JSON.stringify({ ...body, updated_at: toRfc3339(at) })}\n\n`;
}
