import { WaybillError } from '../errors.ts';
import type { Sinks } from '../sinks/sink.ts';
import type { Waybill } from '../waybill.ts';
import type { Caller } from './caller.ts';

/** Sinks of all tenants run together, so only the server itself deals with them; its routes decide who may ask it to. */
export function scopedSinks({ sinks }: Waybill, caller: Caller): { sinks?: Sinks } {
  if (sinks === undefined || caller.isOperator) return sinks ? { sinks } : {};
  const refuse = async (): Promise<never> => {
    throw forbidden();
  };
  return {
    sinks: {
      run: () => {
        throw forbidden();
      },
      ...{ tenantsWith: refuse, open: refuse, state: refuse, pause: refuse, resume: refuse, moveTo: refuse },
    },
  };
}

const forbidden = (): WaybillError => new WaybillError('forbidden', 'Only the server itself runs sinks.');
