import { setTimeout as sleep } from 'node:timers/promises';
import { isFinished, JOB_STATES, silentLogger } from '@waybill/core';
import { connect } from 'waybill';
import { Patience } from './patience.ts';

const LOOK_EVERY_MS = 300;

const UNFINISHED = JOB_STATES.filter((state) => !isFinished(state));

/** What has not ended when nothing moves any more is stuck: answers how many jobs, counted up to a page. */
export async function untilFinished(url: string): Promise<number> {
  const waybill = await connect(url, { logger: silentLogger, engine: { maintenance: false } });
  try {
    const patience = new Patience();
    for (;;) {
      const left = await unfinished();
      if (left === 0 || !patience.lasts(await waybill.events.end())) return left;
      await sleep(LOOK_EVERY_MS);
    }
  } finally {
    await waybill.close();
  }

  /** A page may be empty although there is another one. */
  async function unfinished(): Promise<number> {
    for (let cursor: string | undefined; ; ) {
      const query = { filter: { states: UNFINISHED }, limit: 100, ...(cursor !== undefined && { cursor }) };
      const page = await waybill.jobs.list(query);
      if (page.items.length > 0 || page.cursor === undefined) return page.items.length;
      cursor = page.cursor;
    }
  }
}
