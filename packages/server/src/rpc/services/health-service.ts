import type { HandlerContext, ServiceImpl } from '@connectrpc/connect';
import { type Waybill, WaybillError } from '@waybill/core';
import { health } from '@waybill/protocol';
import type { Surface } from '../../surface.ts';
import { callOf, stay } from '../call.ts';
import { HealthWatchers } from './health-watchers.ts';

const { HealthCheckResponse_ServingStatus: Status } = health;

const LOOK_EVERY_MS = 5_000;

/** The health protocol of gRPC. It needs no key, like `/health`. All services have one status, because they share a store. */
export function healthService(
  waybill: Waybill,
  { clock }: Surface,
  services: readonly string[],
): ServiceImpl<typeof health.Health> {
  const known = new Set(['', ...services]);
  const watchers = new HealthWatchers();
  let looking: Promise<number> | undefined;

  const look = async () => {
    try {
      const { status } = await waybill.health();
      return status === 'ok' ? Status.SERVING : Status.NOT_SERVING;
    } catch {
      return Status.NOT_SERVING;
    }
  };

  /** Watchers that look at the same moment ask the store once. */
  const lookTogether = (): Promise<number> => {
    looking ??= look().finally(() => {
      looking = undefined;
    });
    return looking;
  };

  async function* watch(service: string, context: HandlerContext) {
    const leave = watchers.enter(callOf(context).c.env?.connection);
    const staying = stay(context);
    let last: number | undefined;
    try {
      while (!staying.signal.aborted) {
        const status = known.has(service) ? await lookTogether() : Status.SERVICE_UNKNOWN;
        if (status !== last) yield { status };
        last = status;
        await clock.sleep(LOOK_EVERY_MS, staying.signal);
      }
      staying.check();
    } finally {
      staying.leave();
      leave();
    }
  }

  return {
    check: async ({ service }) => {
      if (known.has(service)) return { status: await look() };
      throw new WaybillError('not_found', `There is no service '${service.slice(0, 100)}' here.`, {
        hint: `Leave the service out, or name one of: ${services.join(', ')}.`,
      });
    },
    list: async () => {
      const status = await look();
      return { statuses: Object.fromEntries([...known].map((name) => [name, { status }])) };
    },
    watch: ({ service }, context) => watch(service, context),
  };
}
