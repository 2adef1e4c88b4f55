import { randomUUID } from 'node:crypto';
import type { LockTable } from '@waybill/core';
import type { Base } from './base.ts';

export const lockTable = ({ link, sql }: Base): LockTable => ({
  take: async ({ name, owner, until, now, staleUntil = null }) => {
    const given = [name, owner, until, now, staleUntil];
    const [held] = await link.query<[fence: number, until: number]>(sql['lock-take'], given);
    if (held) return { status: 'held', fence: held[0], until: held[1] };
    const [row] = await link.query<[until: number]>(sql['lock-until'], [name]);
    return { status: 'taken', until: row![0] };
  },
  release: async ({ name, owner, fence, now }) => {
    const released = await link.query(sql['lock-release'], [name, owner, fence, now, randomUUID()]);
    return released.length > 0;
  },
});
