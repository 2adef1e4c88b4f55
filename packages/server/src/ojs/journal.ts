import { entryToWire } from '@waybill/client';
import { answer } from '../http/answer.ts';
import { readBody } from '../http/body.ts';
import type { App, Ctx } from '../http/env.ts';
import { pathId } from '../http/path-id.ts';
import { portOf } from '../http/port.ts';
import { streamJournal, streamOutput } from '../stream/journal.ts';
import type { Surface } from '../surface.ts';
import { readAppend } from './journal-entries.ts';
import { type JournalAsked, journalAsked } from './journal-query.ts';

/** What the runs of a job say: appended by their worker, read page by page, as a stream, or as the bare output. */
export function journalRoutes(app: App, surface: Surface): void {
  app.get('/ojs/v1/jobs/:id/journal', async (c) => {
    const id = pathId(c);
    const asked = journalAsked(c);
    if (asked.form === 'json') return page(c, id, asked);
    await checkFirst(c, id, asked);
    return asked.form === 'sse' ? streamJournal(c, id, asked, surface) : streamOutput(c, id, asked, surface);
  });

  app.post('/ojs/v1/jobs/:id/journal', async (c) => {
    const id = pathId(c);
    const call = readAppend(id, await readBody(c, surface.maxBodyBytes), surface.requireLease);
    const { run, stored, head, cut } = await portOf(c).jobs.append(call);
    return answer(c, { run, stored, head, cut });
  });
}

async function page(c: Ctx, id: string, { filter, limit }: JournalAsked): Promise<Response> {
  const { entries, cursor, atEnd, missed } = await portOf(c).jobs.journal(id, { ...filter, limit });
  return answer(c, { entries: entries.map(entryToWire), cursor, at_end: atEnd, missed });
}

/**
 * A stream has answered 200 before it reads: a job that is not there, a cursor that is none or a store without journals
 * must be found out here. Behind the last sequence that a run can have there is nothing to read.
 */
async function checkFirst(c: Ctx, id: string, { filter, lifecycle }: JournalAsked): Promise<void> {
  const { jobs, events } = portOf(c);
  const { run = 1, cursor } = filter;
  await jobs.journal(id, { ...filter, run, fromSequence: Number.MAX_SAFE_INTEGER, limit: 1 });
  const after = lifecycle ? cursor?.split('~')[1] : undefined;
  if (after !== undefined) await events.read({ after, filter: { jobIds: [id] }, limit: 1 });
}
