import type { Job } from '@waybill/core';
import { jobFromWire } from '../job-from-wire.ts';
import type { WireJob } from '../job-wire.ts';

/** What answers need to be made of, by whatever protocol they come. */
export interface Downloads {
  whose(asked: string): string;
  download<T>(url: string): Promise<T>;
}

/** A job with the payloads for which the server only told an address. */
export async function wholeJob(calls: Downloads, wire: WireJob, tenant: string): Promise<Job> {
  const { args_url, result_url } = wire;
  if (args_url === undefined && result_url === undefined) return jobFromWire(wire, calls.whose(tenant));
  const [args, result] = await Promise.all([
    args_url === undefined ? wire.args : calls.download<WireJob['args']>(args_url),
    result_url === undefined ? wire.result : calls.download<WireJob['result']>(result_url),
  ]);
  const payloads = { ...(args !== undefined && { args }), ...(result !== undefined && { result }) };
  return jobFromWire({ ...wire, ...payloads }, calls.whose(tenant));
}
