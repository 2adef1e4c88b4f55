import { expect } from 'vitest';
import type { ServerProcess } from './server-process.ts';

export interface WireEvent {
  id: string;
  type: string;
  source: string;
  subject: string;
  time: string;
  data: { run: number; attempt: number; job_type: string; queue: string };
}

const TERMINAL = new Set(['job.completed', 'job.cancelled', 'job.discarded', 'job.expired', 'job.skipped']);
const ENDS_A_RUN = new Set([...TERMINAL, 'job.failed', 'job.requeued', 'job.snoozed', 'job.lease_expired']);

/** What happened to each job; neither what its runs say of themselves nor events of what is not a job. */
export async function readLog(server: ServerProcess): Promise<Map<string, WireEvent[]>> {
  const byJob = new Map<string, WireEvent[]>();
  let after = '';
  for (;;) {
    const path = `/ojs/v1/events?limit=1000${after && `&after=${encodeURIComponent(after)}`}`;
    const { body } = await server.call<{ events: WireEvent[]; cursor: string; has_more: boolean }>('GET', path);
    const ofRows = body.events.filter(({ type, source }) => type.startsWith('job.') && source.endsWith('/server'));
    for (const event of ofRows) byJob.set(event.subject, [...(byJob.get(event.subject) ?? []), event]);
    after = body.cursor;
    if (!body.has_more) return byJob;
  }
}

/** What must hold for the events of one job, whatever crashed: guarantees 2 and 4. */
export function checkJobLog(events: readonly WireEvent[], { leaseMs }: { leaseMs: number }): void {
  const sequences = events.map(({ id }) => Number(id.split('_').at(-1)));
  expect(sequences, 'ordered and gap-free').toEqual(events.map((_, index) => index + 1));
  expect(events.filter(({ type }) => TERMINAL.has(type)).length, 'terminal events').toBe(1);

  let holder: WireEvent | undefined;
  for (const event of events) {
    if (event.type === 'job.started') {
      expect(holder, `run ${event.data.run} began while another was live`).toBeUndefined();
      holder = event;
    } else if (ENDS_A_RUN.has(event.type)) {
      if (event.type === 'job.lease_expired') {
        expect(Date.parse(event.time) - Date.parse(holder!.time), 'a lease lasts its time').toBeGreaterThanOrEqual(
          leaseMs,
        );
      }
      holder = undefined;
    }
  }
}
