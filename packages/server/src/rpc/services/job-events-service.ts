import { create, type MessageInitShape } from '@bufbuild/protobuf';
import type { HandlerContext, ServiceImpl } from '@connectrpc/connect';
import { countOf, entryToRpc, msOf, newEntryFromRpc } from '@waybill/client/rpc';
import { type AppendCall, type Appended, invalidField, type Jobs, type JournalReadQuery } from '@waybill/core';
import {
  type AppendEventsRequest,
  type JobEvent,
  type JobEventsService,
  type ReadEventsRequest,
  type StreamEventsRequest,
  type StreamEventsResponse,
  StreamEventsResponseSchema,
} from '@waybill/protocol';
import { SideMessages, withSideMessages } from '../../stream/side-messages.ts';
import type { Surface } from '../../surface.ts';
import { portFor, stay } from '../call.ts';
import { jobIdOf, leaseTokenOf, workerIdOf } from '../codec/fields.ts';
import { logEventToRpc } from '../codec/log-codec.ts';
import { readTaskToken } from '../codec/task-token.ts';
import { idleHeartbeat } from '../streams/idle-heartbeat.ts';
import { whileOpen } from '../streams/while-open.ts';

const MAX_LIMIT = 1_000;
const MOST_TYPES = 100;
const LONGEST_CURSOR = 4_096;

export function jobEventsService(surface: Surface): ServiceImpl<typeof JobEventsService> {
  return {
    publishEvents: async function* (requests, context) {
      const staying = stay(context);
      const { jobs } = portFor(context);
      try {
        for await (const { taskToken, events } of whileOpen(requests, staying.signal))
          yield { appended: await append(jobs, { ...runOf(taskToken), entries: entriesOf(events) }) };
        staying.check();
      } finally {
        staying.leave();
      }
    },

    appendEvents: async (request, context) => ({
      appended: await append(portFor(context).jobs, {
        ...appendTargetOf(request, surface.requireLease),
        entries: entriesOf(request.events),
      }),
    }),

    readEvents: async (request, context) => {
      const { jobId, limit } = request;
      if (limit < 0 || limit > MAX_LIMIT) throw invalidField('limit', `must lie between 1 and ${MAX_LIMIT}.`);
      const query = { ...filterOf(request), ...(limit > 0 && { limit }) };
      const { entries, cursor, atEnd, missed } = await portFor(context).jobs.journal(jobIdOf(jobId), query);
      return { events: entries.map(entryToRpc), cursor, atEnd, missed };
    },

    streamEvents: (request, context) => {
      const side = new SideMessages<StreamEventsResponse>();
      const alive = () => response({ item: { case: 'alive', value: {} } });
      return withSideMessages(streamed(request, context, side), { side, ...idleHeartbeat(context, surface, alive) });
    },
  };
}

async function* streamed(
  request: StreamEventsRequest,
  context: HandlerContext,
  side: SideMessages<StreamEventsResponse>,
): AsyncGenerator<StreamEventsResponse> {
  const staying = stay(context);
  try {
    const items = portFor(context).jobs.follow(jobIdOf(request.jobId), {
      ...filterOf(request),
      ...{ stay: request.stay, lifecycle: request.lifecycle, signal: staying.signal },
      onMissed: () => side.put('missed', response({ item: { case: 'missed', value: {} } })),
      onLive: () => side.put('live', response({ item: { case: 'live', value: {} } })),
    });
    for await (const item of items) {
      const { cursor } = item;
      if (item.kind === 'entry') yield response({ cursor, item: { case: 'event', value: entryToRpc(item.entry) } });
      else yield response({ cursor, item: { case: 'lifecycle', value: logEventToRpc(item.event) } });
    }
    staying.check();
  } finally {
    staying.leave();
  }
}

const response = (init: MessageInitShape<typeof StreamEventsResponseSchema>): StreamEventsResponse =>
  create(StreamEventsResponseSchema, init);

async function append(jobs: Jobs, call: AppendCall) {
  const { head, ...appended }: Appended = await jobs.append(call);
  return { ...appended, ...(head !== null && { head: BigInt(head) }) };
}

function runOf(token: string): Omit<AppendCall, 'entries'> {
  const { jobId, queue, leaseToken } = readTaskToken(token);
  return { id: jobId, queue, leaseToken };
}

function appendTargetOf(
  { taskToken, jobId, leaseToken, workerId }: AppendEventsRequest,
  requireLease: boolean,
): Omit<AppendCall, 'entries'> {
  if (taskToken === '')
    return { id: jobIdOf(jobId), ...leaseTokenOf(leaseToken, requireLease), ...workerIdOf(workerId) };
  const run = runOf(taskToken);
  if (jobId !== '' && jobId !== run.id) throw invalidField('job_id', 'is not the job that the token is for.');
  return run;
}

const entriesOf = (events: readonly JobEvent[]) =>
  events.map((event, index) => newEntryFromRpc(event, `events[${index}]`));

type Sent = Pick<ReadEventsRequest | StreamEventsRequest, 'fromSequence' | 'fromTime' | 'types' | 'run' | 'cursor'>;

function filterOf({ fromSequence, fromTime, types, run, cursor }: Sent): JournalReadQuery {
  if (types.length > MOST_TYPES) throw invalidField('types', `must have at most ${MOST_TYPES} names.`);
  if (cursor.length > LONGEST_CURSOR) throw invalidField('cursor', 'is no cursor that this server has answered.');
  return {
    ...(fromSequence !== undefined && { fromSequence: countOf(fromSequence, 'from_sequence') }),
    ...(fromTime && { fromTime: msOf(fromTime, 'from_time') }),
    ...(types.length > 0 && { types }),
    ...(run !== undefined && { run }),
    ...(cursor !== '' && { cursor }),
  };
}
