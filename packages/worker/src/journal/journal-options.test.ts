import { readFileSync } from 'node:fs';
import { JOURNAL_TYPES } from '@waybill/core';
import { describe, expect, it } from 'vitest';
import { isCritical } from './criticality.ts';
import { JOURNAL_NAMES, resolveJournal } from './journal-options.ts';

describe('the options of the journal', () => {
  it('are those that docs/worker.md names', () => {
    const page = readFileSync(new URL('../../../../docs/worker.md', import.meta.url), 'utf8');
    const table = page.slice(page.indexOf('| option of `journal` |')).split('\n\n', 1)[0]!;
    const named = [...table.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name);
    expect(named).toEqual(JOURNAL_NAMES);
  });

  it('of a task beat those of the worker, field by field', () => {
    const worker = { journal: { log: false, flushMs: 5 }, outbox: './of-the-worker' };
    const defaults = { isOn: true, log: true, maxWaitingBytes: 1_048_576, flushMs: null, outbox: null };
    expect(resolveJournal({}, {})).toEqual(defaults);
    expect(resolveJournal({ journal: { log: true } }, worker)).toEqual({
      ...defaults,
      flushMs: 5,
      outbox: './of-the-worker',
    });
    expect(resolveJournal({ outbox: false }, worker)).toMatchObject({ log: false, outbox: null });
    expect(resolveJournal({ journal: false }, worker).isOn).toBe(false);
    expect(resolveJournal({ journal: {} }, { journal: false }).isOn).toBe(true);
  });
});

it('as in the seed, the start and the end of a process are critical, and nothing else unless it is said', () => {
  expect(JOURNAL_TYPES.filter((type) => isCritical(type))).toEqual(['process.started', 'process.ended']);
  expect([isCritical('my.own'), isCritical('my.own', true), isCritical('process.ended', false)]).toEqual([
    ...[false, true, false],
  ]);
});
