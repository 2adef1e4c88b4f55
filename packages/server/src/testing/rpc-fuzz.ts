import { create, type DescMessage, toBinary, toJson } from '@bufbuild/protobuf';
import { toListValue } from '@waybill/client/rpc';
import {
  AppendEventsRequestSchema,
  CompleteJobRequestSchema,
  EnqueueJobRequestSchema,
  ListJobsRequestSchema,
} from '@waybill/protocol';
import { expect } from 'vitest';
import { SERVICES } from '../rpc/methods.ts';
import { harness } from './harness.ts';

/** Small, and the same on every machine. */
export function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) | 0;
    const mixed = Math.imul(state ^ (state >>> 12), 0x297a2d39);
    return ((mixed ^ (mixed >>> 15)) >>> 0) % below;
  };
}

const unary = SERVICES.filter(({ typeName }) => typeName.startsWith('waybill.')).flatMap((service) =>
  service.methods.filter(({ methodKind, name }) => methodKind === 'unary' && name !== 'Claim'),
);
const SAMPLES: Sample[] = [
  [
    EnqueueJobRequestSchema,
    { type: 'x', args: toListValue([1, { a: [null] }]), options: { priority: 1 }, delay: { seconds: 5n } },
  ],
  [CompleteJobRequestSchema, { taskToken: 'wb1_W10', result: { success: false, exitCode: 2 } }],
  [AppendEventsRequestSchema, { taskToken: 'wb1_W10', events: [{ sequence: 3n, time: { seconds: 1n } }] }],
  [ListJobsRequestSchema, { page: 2, state: 3, queues: ['a'], createdAfter: { seconds: 10n } }],
];

const PIECES = [
  '{',
  '}',
  '[',
  ']',
  ':',
  ',',
  '"',
  '1e999',
  '-1',
  'null',
  '"__proto__"',
  '"\\ud800"',
  '"args"',
  '"jobId"',
  '99999999999999999999',
];

export type Sample = [DescMessage, Record<string, unknown>];

/** What a sample becomes by chance: nothing of it, its beginning, itself, or a few of its bytes changed. */
export function scrambled(below: (n: number) => number, isJson: boolean, [schema, init]: Sample): Uint8Array {
  const message = create(schema, init);
  const bytes = isJson ? Buffer.from(JSON.stringify(toJson(schema, message))) : Buffer.from(toBinary(schema, message));
  switch (below(4)) {
    case 0:
      return Uint8Array.from({ length: below(60) }, () => below(256));
    case 1:
      return bytes.subarray(0, below(bytes.length + 1));
    case 2:
      return isJson
        ? Buffer.from(Array.from({ length: below(12) }, () => PIECES[below(PIECES.length)]).join(''))
        : bytes;
    default: {
      const changed = Buffer.from(bytes);
      for (let flips = 1 + below(4); flips > 0; flips -= 1) changed[below(changed.length)] = below(256);
      return changed;
    }
  }
}

/** Sends so many bodies that chance has made: each ends in an answer or a clean error, never in one of the server's own. */
export async function fuzzBodies(count: number): Promise<void> {
  const below = random(17);
  const { app, log } = harness({ maintenance: false });
  const seen = new Map<string, number>();
  for (let number = 0; number < count; number += 1) {
    const method = unary[below(unary.length)]!;
    const isJson = below(2) === 0;
    const sent = scrambled(below, isJson, SAMPLES[below(SAMPLES.length)]!);
    const answer = await app.request(`/${method.parent.typeName}/${method.name}`, {
      method: 'POST',
      headers: { 'Content-Type': isJson ? 'application/json' : 'application/proto' },
      body: sent as Uint8Array<ArrayBuffer>,
    });
    const bytes = new Uint8Array(await answer.arrayBuffer());
    const code = answer.status === 200 ? 'ok' : JSON.parse(Buffer.from(bytes).toString()).code;
    seen.set(code, (seen.get(code) ?? 0) + 1);
    if (['internal', 'unknown', undefined].includes(code))
      expect.unreachable(
        `${method.name} ${isJson ? 'json' : 'proto'} ${Buffer.from(sent).toString('base64')}: ${code} ${Buffer.from(bytes)}`,
      );
  }
  expect([...seen.keys()].sort()).toEqual(expect.arrayContaining(['invalid_argument', 'ok']));
  expect(log.filter(({ level }) => level === 'error')).toEqual([]);
}
