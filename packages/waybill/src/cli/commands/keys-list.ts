import { keyToWire } from '@waybill/client';
import type { ApiKey } from '@waybill/core';
import { command } from '../command.ts';
import type { Context } from '../context.ts';
import { lookedAt } from '../looked-at.ts';
import { KEY_TENANT, openKeys } from '../open-keys.ts';
import { boundsOf, stateOf, tenantText } from '../shown-key.ts';
import { away } from '../spans.ts';
import { type Column, table } from '../table.ts';

export const keysList = command({
  name: 'keys list',
  section: 'Care',
  summary: 'list the API keys, those that ended in the last 30 days included',
  options: { tenant: { ...KEY_TENANT, about: "whose keys; '*' lists those of all tenants" } },
  run: async (_, context) => {
    const { keys, whose } = await openKeys(context);
    const all = await keys.list(whose);
    const now = context.io.now();
    const at = (moment: number | null, none: string) => (moment === null ? none : away(moment, now));
    const columns: Column<ApiKey>[] = [
      { title: 'ID', of: ({ id }) => id },
      { title: 'NAME', of: ({ name }) => name, least: 8 },
      ...(context.isAllTenants
        ? [{ title: 'TENANT', of: ({ tenant }: ApiKey) => tenantText(tenant), least: 6, spare: 3 }]
        : []),
      { title: 'SCOPES', of: ({ scopes }) => scopes.join(','), least: 8 },
      // Never left out: a key that is narrowed must not look as if it may do everything.
      { title: 'ONLY', of: (key) => boundsOf(key) ?? '-', least: 6 },
      { title: 'STATE', of: (key) => stateOf(key, now), paint: context.style.state },
      { title: 'USED', of: ({ lastUsedAt }) => at(lastUsedAt, 'never'), spare: 1 },
      { title: 'EXPIRES', of: ({ expiresAt }) => at(expiresAt, 'never'), spare: 2 },
    ];
    context.show({ keys: all.map(keyToWire) }, () => (all.length === 0 ? none(context) : table(all, columns, context)));
    return 0;
  },
});

const none = (context: Context): string =>
  `No keys in ${lookedAt(context)}.\n${context.isAllTenants ? '' : "--tenant '*' lists those of all tenants.\n"}`;
