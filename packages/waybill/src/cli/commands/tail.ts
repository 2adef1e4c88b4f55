import { eventToWire } from '@waybill/client';
import { type EventType, kindOf, EVENT_TYPES as OF_ENGINE, type Waybill } from '@waybill/core';
import { RECORD_EVENT_TYPES } from '@waybill/server';
import { command } from '../command.ts';
import { eventLine } from '../event-line.ts';
import { wholeIds } from '../job-ids.ts';
import { readList, readListOf } from '../read-value.ts';

const EVENT_TYPES: readonly EventType[] = [...OF_ENGINE, ...RECORD_EVENT_TYPES];
const EVENTS = EVENT_TYPES.map((type) => type.replace('job.', ''));

/** Those of jobs first, then a paragraph for each other kind. */
const listed = (): string =>
  [...Map.groupBy(EVENTS, (name) => (name.includes('.') ? kindOf(name) : 'job')).values()]
    .map((names) => names.join(', '))
    .join('\n\n');

export const tail = command({
  name: 'tail',
  section: 'Jobs',
  summary: 'follow what happens until Ctrl-C',
  options: {
    queue: { value: 'NAMES', about: 'only of these queues' },
    type: { value: 'TYPES', about: 'only of jobs of these types' },
    job: { value: 'IDS', about: 'only of these jobs' },
    event: { value: 'EVENTS', about: 'only these, like completed,discarded' },
    since: { value: 'WHERE', about: 'start, now, or the cursor of an event, which --json shows', default: 'now' },
  },
  notes: `Events: ${listed()}`,
  run: async ({ values: { queue, type, job, event, since = 'now' } }, context) => {
    const names = event === undefined ? undefined : readListOf('--event', event.replaceAll('job.', ''), EVENTS);
    const types = names && EVENT_TYPES.filter((one) => names.includes(one.replace('job.', '')));
    const jobTypes = type === undefined ? undefined : new Set(readList('--type', type));
    const waybill = await context.connect();
    const filter = {
      ...(queue !== undefined && { queues: readList('--queue', queue) }),
      ...(job !== undefined && { jobIds: await wholeIds(waybill, readList('--job', job)) }),
      ...(types && { types }),
    };
    const { io, isJson } = context;
    const after = await cursorOf(waybill, since);
    const onMissed = () =>
      void io.stderr.write('waybill: Events were removed by retention before they were read here.\n');
    const query = { filter, signal: io.interrupted(), onMissed, ...(after !== undefined && { after }) };
    for await (const one of waybill.events.follow(query)) {
      // The log itself is not searched by type of job.
      if (jobTypes !== undefined && !jobTypes.has(one.jobType ?? '')) continue;
      io.stdout.write(isJson ? `${JSON.stringify(eventToWire(one))}\n` : `${eventLine(one, context)}\n`);
    }
    return 0;
  },
});

const cursorOf = async ({ events }: Waybill, since: string): Promise<string | undefined> => {
  if (since === 'start') return undefined;
  return since === 'now' ? events.end() : since;
};
