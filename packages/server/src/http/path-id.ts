import { invalidField, isJobId, WaybillError } from '@waybill/core';
import type { Ctx } from './env.ts';

const ANY_UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** The id of a path. Another kind of UUID cannot be one of ours, so nothing is there; other text is a mistake. */
export function pathId(c: Ctx, what: 'job' | 'workflow' = 'job'): string {
  const id = c.req.param('id') ?? '';
  if (isJobId(id)) return id;
  if (!ANY_UUID.test(id)) throw invalidField('id', 'must be a UUIDv7 in lower case.');
  throw new WaybillError('not_found', `There is no ${what} ${id}.`, { details: { [`${what}_id`]: id } });
}
