import { auditToWire, type WireAudit } from '@waybill/client';
import {
  ALL_TENANTS,
  AUDIT_TYPES,
  type AuditQuery,
  auditMatches,
  type LoggedEvent,
  readAudit,
  type Waybill,
  WaybillError,
} from '@waybill/core';
import { isRemote } from '../../connect/parse-address.ts';
import { auditCaller } from '../audit-caller.ts';
import { command } from '../command.ts';
import type { Context } from '../context.ts';
import { lookedAt } from '../looked-at.ts';
import { readLimit, readPast, readText } from '../read-value.ts';
import { tenantText } from '../shown-key.ts';
import { clipped, oneLine } from '../text-width.ts';

const PAGE = 1_000;
/** Of the outcomes that are seen most: `forbidden` and `not_found`. */
const LONGEST_USUAL = 9;

export const audit = command({
  name: 'audit',
  section: 'Care',
  summary: 'show which key did what, and when',
  options: {
    since: { value: 'WHEN', about: 'a moment, or how long ago: 1h, 7d', default: 'all that the log has kept' },
    principal: { value: 'KEY', about: 'only of this caller: its id, the first characters of it, or its name' },
    action: { value: 'NAME', about: 'only this, like queues.pause; keys. for all of a group' },
    limit: { value: 'N', about: 'the newest so many, 1 to 1000', default: '50' },
    follow: { about: 'go on with what is done from now on, until Ctrl-C' },
    tenant: { value: 'NAME', about: "whose audit; '*' on a store is that of all tenants", default: 'WAYBILL_TENANT' },
  },
  notes:
    'Calls on the store itself, such as those of this command without a server, have no caller and are not listed.',
  run: async ({ values: { since, principal, action, limit: most, follow } }, context) => {
    const limit = readLimit(most);
    if (context.isAllTenants && isRemote(context.store)) throw oneTenant();
    const waybill = await context.connect({ mayMeanAll: true });
    const whose = context.isAllTenants ? { tenant: ALL_TENANTS } : {};
    const named = principal === undefined ? undefined : readText('--principal', principal);
    const query: AuditQuery = {
      ...whose,
      ...(since !== undefined && { since: readPast('--since', since, context.io.now()) }),
      ...(named !== undefined && { principal: await auditCaller(waybill, named, whose, context) }),
      ...(action !== undefined && { action: readText('--action', action) }),
    };
    const { newest, cursor } = await newestOf(waybill, query, limit);
    const entries = newest.map((event) => shown(event, context));
    if (!follow) {
      const text = () =>
        entries.length === 0 ? nothing(query, context) : entries.map((one) => lineOf(one, context)).join('');
      context.show({ audit: entries, cursor }, text);
      return 0;
    }
    const tell = (one: Shown) =>
      context.io.stdout.write(context.isJson ? `${JSON.stringify(one)}\n` : lineOf(one, context));
    entries.forEach(tell);
    const filter = { types: AUDIT_TYPES, ...whose };
    for await (const event of waybill.events.follow({ filter, after: cursor, signal: context.io.interrupted() })) {
      if (auditMatches(event, query)) tell(shown(event, context));
    }
    return 0;
  },
});

/** With the tenant where there are several. */
type Shown = WireAudit & { tenant?: string };

const shown = (event: LoggedEvent, { isAllTenants }: Context): Shown => ({
  ...(isAllTenants && { tenant: event.tenant }),
  ...auditToWire(event),
});

/** The routes of a server are about one tenant, and to read the log once for each of them takes too long. */
const oneTenant = (): WaybillError =>
  new WaybillError('unsupported', 'A server answers the audit of one tenant in each call.', {
    hint: "Name it with --tenant NAME; `waybill tenants list` lists them. With the address of the store --tenant '*' works.",
  });

/** The log is read from its begin, since it is in order of time; no more than the answer is kept of it. */
async function newestOf({ events }: Waybill, query: AuditQuery, limit: number) {
  let newest: LoggedEvent[] = [];
  let after: string | undefined;
  for (;;) {
    const page = await readAudit(events, query, { after, limit: PAGE });
    newest = [...newest, ...page.events].slice(-limit);
    after = page.cursor;
    if (page.atEnd) return { newest, cursor: after };
  }
}

function nothing(query: AuditQuery, context: Context): string {
  const { tenant: _, ...narrowing } = query;
  const what = Object.keys(narrowing).length === 0 ? 'Nothing' : 'Nothing of the kind';
  const other = context.isAllTenants ? '' : 'Another tenant is named with --tenant NAME.\n';
  return `${what} is written down in ${lookedAt(context)}.\n${other}`;
}

/** What came of it stands before what may be long: a narrow terminal cuts the end. */
function lineOf({ time, tenant, principal, name, action, target, outcome }: Shown, { style, width }: Context): string {
  const when = style.dim(time.slice(0, 19).replace('T', ' '));
  const result = outcome === 'ok' ? 'ok'.padEnd(LONGEST_USUAL) : style.as('fail', outcome.padEnd(LONGEST_USUAL));
  const who = name === undefined || name === principal ? '' : ` (${oneLine(name)})`;
  const whose = tenant === undefined ? '' : `${tenantText(tenant)} `;
  const line = `${when} ${whose}${oneLine(principal)} ${result} ${oneLine(action)} ${oneLine(target ?? '-')}${who}`;
  return `${clipped(line, width).trimEnd()}\n`;
}
