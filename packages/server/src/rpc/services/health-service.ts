import type { HandlerContext, ServiceImpl } from '@connectrpc/connect';
import { type Waybill, WaybillError } from '@waybill/core';
import { health } from '@waybill/protocol';
import { networkOf } from '../../auth/client-network.ts';
import type { Surface } from '../../surface.ts';
import { callOf, stay } from '../call.ts';
import { HealthWatchers, type WatcherOrigin } from './health-watchers.ts';

const { HealthCheckResponse_ServingStatus: Status } = health;

const LOOK_EVERY_MS = 5_000;
/** Shorter than what a call without a key may take, so that its caller gets an answer. */
const ANSWER_WITHIN_MS = 1_500;

const originOf = (context: HandlerContext): WatcherOrigin => {
  const { env } = callOf(context).c;
  return {
    connection: env?.connection,
    client: networkOf(env?.clientAddress ?? ''),
    mostConnections: env?.mostConnections,
  };
};

/** The health protocol of gRPC. It needs no key, like `/health`. All services have one status, because they share a store. */
export function healthService(
  waybill: Waybill,
  { clock }: Surface,
  services: readonly string[],
): ServiceImpl<typeof health.Health> {
  const known = new Set(['', ...services]);
  const watchers = new HealthWatchers();
  let looking: Promise<number> | undefined;

  const ask = async () => {
    try {
      const { status } = await waybill.health();
      return status === 'ok' ? Status.SERVING : Status.NOT_SERVING;
    } catch {
      return Status.NOT_SERVING;
    }
  };

  const look = async (): Promise<number> => {
    const ended = new AbortController();
    const late = clock.sleep(ANSWER_WITHIN_MS, ended.signal).then(() => Status.NOT_SERVING);
    try {
      return await Promise.race([ask(), late]);
    } finally {
      ended.abort();
    }
  };

  /** Callers that look at the same moment ask the store once. */
  const lookTogether = (): Promise<number> => {
    looking ??= look().finally(() => {
      looking = undefined;
    });
    return looking;
  };

  async function* watch(service: string, context: HandlerContext) {
    const watcher = watchers.enter(originOf(context));
    callOf(context).c.get('openCallGoesOn')?.();
    const staying = stay(context);
    const over = AbortSignal.any([staying.signal, watcher.signal]);
    let last: number | undefined;
    try {
      while (!over.aborted) {
        const status = known.has(service) ? await lookTogether() : Status.SERVICE_UNKNOWN;
        if (status !== last) yield { status };
        last = status;
        await clock.sleep(LOOK_EVERY_MS, over);
      }
      watcher.check();
      staying.check();
    } finally {
      staying.leave();
      watcher.leave();
    }
  }

  return {
    check: async ({ service }) => {
      if (known.has(service)) return { status: await lookTogether() };
      throw new WaybillError('not_found', `There is no service '${service.slice(0, 100)}' here.`, {
        hint: `Leave the service out, or name one of: ${services.join(', ')}.`,
      });
    },
    list: async () => {
      const status = await lookTogether();
      return { statuses: Object.fromEntries([...known].map((name) => [name, { status }])) };
    },
    watch: ({ service }, context) => watch(service, context),
  };
}
