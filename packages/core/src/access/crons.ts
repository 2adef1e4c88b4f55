import { Fields } from '../check.ts';
import { cronNotFound, templateIn } from '../cron/crons.ts';
import { destinationOf } from '../enqueue/envelope.ts';
import { WaybillError } from '../errors.ts';
import type { CronRecord } from '../store/crons.ts';
import type { Crons, Waybill } from '../waybill.ts';
import type { Caller } from './caller.ts';

/** A schedule belongs to the queue and the type of the jobs that it makes. */
export function scopedCrons({ crons }: Waybill, caller: Caller): Crons {
  const isMine = ({ template }: CronRecord): boolean => caller.sees(destinationOf(template));

  const mustSee = async (name: string, tenant: string): Promise<void> => {
    if (caller.isNarrowed && !isMine(await crons.get(name, { tenant }))) throw cronNotFound(name);
  };

  /** A put replaces what has the name. */
  const mustBeFree = async (name: unknown, tenant: string): Promise<void> => {
    const all = await crons.list({ tenant });
    if (!all.some((cron) => cron.name === name && !isMine(cron))) return;
    throw new WaybillError('conflict', `The name '${name}' is taken by a schedule of another queue.`);
  };

  return {
    put: async (request, context) => {
      const tenant = caller.enter('admin', context);
      if (caller.isNarrowed) {
        caller.needDestination(destinationOf(templateIn(new Fields(request))));
        await mustBeFree(request.name, tenant);
      }
      return crons.put(request, { tenant });
    },
    get: async (name, context) => {
      const tenant = caller.enter('read', context);
      const cron = await crons.get(name, { tenant });
      if (caller.isNarrowed && !isMine(cron)) throw cronNotFound(name);
      return cron;
    },
    list: async (context) => {
      const tenant = caller.enter('read', context);
      const all = await crons.list({ tenant });
      return caller.isNarrowed ? all.filter(isMine) : all;
    },
    setEnabled: async (name, enabled, context) => {
      const tenant = caller.enter('admin', context);
      await mustSee(name, tenant);
      return crons.setEnabled(name, enabled, { tenant });
    },
    remove: async (name, context) => {
      const tenant = caller.enter('admin', context);
      await mustSee(name, tenant);
      return crons.remove(name, { tenant });
    },
  };
}
