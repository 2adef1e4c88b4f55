import { aJob } from '@waybill/core/testing';
import { describe, expect, it } from 'vitest';
import { openDatabase } from './open.ts';
import { readQuery } from './queries.ts';
import { AT, fromRow, headOf, mutableCells, type Row, toRow } from './rows.ts';

const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

function columns(): string[] {
  const db = openDatabase({ path: ':memory:', durability: 'full', wakeEveryMs: 25, busyTimeoutMs: 1000 });
  const names = db.prepare('pragma table_info(jobs)').all();
  db.close();
  return names.map(({ name }) => String(name));
}

const full = (() => {
  const { job } = aJob({ spec: { args: [1], meta: {} } });
  // Every column gets a value of its own, so that none can stand in for another.
  const numbered = Object.fromEntries(
    Object.entries(job).map(([key, value], index) => {
      if (['spec', 'errors', 'result'].includes(key)) return [key, value];
      return [key, typeof value === 'boolean' ? value : typeof value === 'number' ? index : `text-${index}`];
    }),
  );
  const error = { code: 'boom', message: 'It broke.', attempt: 1, run: 1, occurredAt: 5 };
  return { ...job, ...numbered, errors: [error], result: { ok: true }, dead: true } as typeof job;
})();

describe('rows', () => {
  it('come back as they went in', () => {
    expect(fromRow(toRow(full))).toEqual(full);
    const { job } = aJob();
    expect(fromRow(toRow(job))).toEqual(job);
  });

  it('have a cell for each column of the table, in its order', () => {
    const names = columns();
    const row = toRow(full);
    expect(row).toHaveLength(names.length);
    for (const [key, value] of Object.entries(full)) {
      if (typeof value === 'string' || typeof value === 'number') expect(row[names.indexOf(snake(key))]).toBe(value);
    }
    for (const [key, index] of Object.entries(AT)) expect(names[index]).toBe(snake(key));
    for (const key of ['spec', 'errors', 'result'] as const) {
      expect(row[names.indexOf(key)]).toBe(JSON.stringify(full[key]));
    }
  });

  it('are written by statements that name the columns in the same order', () => {
    const names = columns();
    const listed = /\(([^)]+)\) values/.exec(readQuery('insert-job'))![1]!;
    expect(listed.split(',').map((name) => name.trim())).toEqual(names);
    const changing = names.slice(2, 2 + mutableCells(full).length);
    for (const query of ['apply-by-lease', 'apply-by-version'] as const) {
      const set = [...readQuery(query).matchAll(/(\w+) = \?(\d+)/g)].slice(0, changing.length);
      expect(set.map(([, name]) => name)).toEqual(changing);
      expect(set.map(([, , number]) => Number(number))).toEqual(changing.map((_, index) => index + 1));
    }
  });

  it('tell all but their JSON without parsing any', () => {
    const row = toRow(full);
    const broken = row.with(-1, '{') as Row;
    expect(headOf(broken)).toEqual({ ...full, errors: [], result: null, spec: { args: [], meta: {} } });
  });
});
