import type { JsonObject } from '@waybill/core';

/** Names the tenant that a call is about; absent: the one without a name. */
export const TENANT_HEADER = 'X-OJS-Tenant';

/** Where the specification's extension shows the tenant of a job. */
const SHOWN = 'tenant_id';

export const metaToWire = (meta: JsonObject, tenant: string): JsonObject =>
  tenant === '' ? meta : { ...meta, [SHOWN]: tenant };

/** Without what `metaToWire` has added. A producer's own value is lost on the way there. */
export function metaFromWire(meta: JsonObject, tenant: string): JsonObject {
  if (tenant === '' || meta[SHOWN] !== tenant) return meta;
  const { [SHOWN]: _, ...rest } = meta;
  return rest;
}
