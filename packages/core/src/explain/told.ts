import type { JobEventType } from '../events/job-event.ts';
import type { Job } from '../job/job.ts';
import type { JsonObject } from '../json.ts';
import type { Store } from '../store/store.ts';

const PAGE = 100;

/** What the newest event of this type says of the job; nothing where retention has removed it. */
export async function newestTold(
  { events }: Pick<Store, 'events'>,
  { tenant, id }: Job,
  type: JobEventType,
): Promise<JsonObject> {
  const filter = { tenant, jobIds: [id], types: [type] };
  let found: JsonObject = {};
  let after: string | undefined;
  for (;;) {
    const page = await events.read({ filter, limit: PAGE, ...(after !== undefined && { after }) });
    found = page.events.at(-1)?.data ?? found;
    if (page.atEnd) return found;
    after = page.cursor;
  }
}
