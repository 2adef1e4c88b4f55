import { invalidField } from '../errors.ts';
import { ALL_TENANTS } from '../store/event-log.ts';

/** As it stands in an HTTP header: without spaces, so that a header that was sent twice is no tenant. */
const TENANT = /^[\x21-\x7e]{1,128}$/;

/** How names begin that belong to the system, such as `SYSTEM_TENANT`. */
const RESERVED = '~';

/** The name of one tenant as a caller gives it; the empty name is the tenant of those who know of none. */
export function checkTenant(tenant: string, field = 'tenant'): string {
  if (tenant === '') return tenant;
  if (typeof tenant !== 'string' || !TENANT.test(tenant)) {
    throw invalidField(field, 'must have at most 128 printable ASCII characters, and no space.', { max: 128 });
  }
  if (tenant === ALL_TENANTS) {
    throw invalidField(field, `must name one tenant; '${ALL_TENANTS}' is for filters of events only.`);
  }
  if (tenant.startsWith(RESERVED)) {
    throw invalidField(field, `must not begin with '${RESERVED}': such names belong to the system.`);
  }
  return tenant;
}
