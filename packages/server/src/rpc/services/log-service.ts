import { create } from '@bufbuild/protobuf';
import type { HandlerContext, ServiceImpl } from '@connectrpc/connect';
import { invalidField } from '@waybill/core';
import {
  type LogService,
  type LogServiceFollowRequest,
  type LogServiceFollowResponse,
  LogServiceFollowResponseSchema,
} from '@waybill/protocol';
import { SideMessages, withSideMessages } from '../../stream/side-messages.ts';
import type { Surface } from '../../surface.ts';
import { portFor, stay } from '../call.ts';
import { logEventToRpc, logFilterOf } from '../codec/log-codec.ts';
import { idleHeartbeat } from '../streams/idle-heartbeat.ts';

const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1_000;
const LONGEST_CURSOR = 4_096;

export function logService(surface: Surface): ServiceImpl<typeof LogService> {
  return {
    read: async ({ after, filter, limit }, context) => {
      if (limit < 0 || limit > MAX_LIMIT) throw invalidField('limit', `must lie between 1 and ${MAX_LIMIT}.`);
      const page = await portFor(context).events.read({
        ...cursorOf(after),
        filter: logFilterOf(filter),
        limit: limit || DEFAULT_LIMIT,
      });
      const { events, cursor, atEnd, missed } = page;
      return { events: events.map(logEventToRpc), cursor, atEnd, missed };
    },

    end: async (_request, context) => ({ cursor: await portFor(context).events.end() }),

    follow: (request, context) => {
      const side = new SideMessages<LogServiceFollowResponse>();
      const alive = () => item({ case: 'alive', value: {} });
      return withSideMessages(followed(request, context, side), { side, ...idleHeartbeat(context, surface, alive) });
    },
  };
}

async function* followed(
  { after, filter }: LogServiceFollowRequest,
  context: HandlerContext,
  side: SideMessages<LogServiceFollowResponse>,
): AsyncGenerator<LogServiceFollowResponse> {
  const staying = stay(context);
  try {
    const events = portFor(context).events.follow({
      ...cursorOf(after),
      ...{ filter: logFilterOf(filter), signal: staying.signal },
      onMissed: () => side.put('missed', item({ case: 'missed', value: {} })),
      onPlace: (cursor) => side.put('place', item({ case: 'place', value: { cursor } })),
    });
    for await (const event of events) yield item({ case: 'event', value: logEventToRpc(event) });
    staying.check();
  } finally {
    staying.leave();
  }
}

type Item = NonNullable<Parameters<typeof create<typeof LogServiceFollowResponseSchema>>[1]>['item'];

const item = (init: Item): LogServiceFollowResponse => create(LogServiceFollowResponseSchema, { item: init! });

export function cursorOf(after: string | undefined): { after?: string } {
  if (after === undefined || after === '') return {};
  if (after.length > LONGEST_CURSOR) throw invalidField('after', 'is no cursor that this server has answered.');
  return { after };
}
