import { create, type DescMethod, toBinary, toJson } from '@bufbuild/protobuf';
import { expect } from 'vitest';
import { SERVICES } from '../rpc/methods.ts';
import { harness } from './harness.ts';
import { type Sample, validBodies } from './rpc-samples.ts';

/** Small, and the same on every machine. */
export function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) | 0;
    const mixed = Math.imul(state ^ (state >>> 12), 0x297a2d39);
    return ((mixed ^ (mixed >>> 15)) >>> 0) % below;
  };
}

/** `Claim` takes jobs that others of these calls are about. */
const unary = SERVICES.filter(({ typeName }) => typeName.startsWith('waybill.')).flatMap((service) =>
  service.methods.filter(({ methodKind, name }) => methodKind === 'unary' && name !== 'Claim'),
);

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

/** In the place of a value of JSON. */
const ODD = [null, true, -1, 2 ** 53, 1e300, '', '\ud800', '__proto__', 'x'.repeat(5_000), {}, [], [[]], { '': null }];

/** Another value in the place of one that is there, however deep. */
function oneReplaced(below: (n: number) => number, value: unknown): unknown {
  const isNested = typeof value === 'object' && value !== null && Object.keys(value).length > 0;
  if (!isNested || below(3) === 0) return ODD[below(ODD.length)];
  const names = Object.keys(value);
  const name = names[below(names.length)]!;
  const changed = oneReplaced(below, (value as Record<string, unknown>)[name]);
  return Array.isArray(value)
    ? value.map((one, index) => (String(index) === name ? changed : one))
    : { ...value, [name]: changed };
}

/** What a sample becomes by chance: nothing of it, its beginning, itself, or it with a few bytes or with one value changed. */
export function scrambled(below: (n: number) => number, isJson: boolean, [schema, init]: Sample): Uint8Array {
  const message = create(schema, init);
  const bytes = isJson ? Buffer.from(JSON.stringify(toJson(schema, message))) : Buffer.from(toBinary(schema, message));
  switch (below(6)) {
    case 0:
      return Uint8Array.from({ length: below(60) }, () => below(256));
    case 1:
      return bytes.subarray(0, below(bytes.length + 1));
    case 2:
      return bytes;
    case 3: {
      if (isJson) return Buffer.from(JSON.stringify(oneReplaced(below, toJson(schema, message))));
      // A part of the message once more, or left out: fields that are there twice, too long, or not at all.
      const [from, to] = [below(bytes.length + 1), below(bytes.length + 1)];
      return Buffer.concat([bytes.subarray(0, from), bytes.subarray(to)]);
    }
    case 4:
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

/**
 * Sends each call a valid body, and then so many that chance has made of these: each ends in an answer or a clean error, never in one of
 * the server's own.
 */
export async function fuzzBodies(count: number): Promise<void> {
  const below = random(17);
  const server = harness({ maintenance: false });
  const { app, log } = server;
  const samples = await validBodies(server);
  expect(samples.map(([{ name }]) => name).sort()).toEqual(unary.map(({ name }) => name).sort());
  const seen = new Map<string, number>();
  const send = async (method: DescMethod, isJson: boolean, sent: Uint8Array): Promise<string> => {
    const answer = await app.request(`/${method.parent.typeName}/${method.name}`, {
      method: 'POST',
      headers: { 'Content-Type': isJson ? 'application/json' : 'application/proto' },
      body: sent as Uint8Array<ArrayBuffer>,
    });
    const bytes = new Uint8Array(await answer.arrayBuffer());
    const code: string = answer.status === 200 ? 'ok' : JSON.parse(Buffer.from(bytes).toString()).code;
    seen.set(code, (seen.get(code) ?? 0) + 1);
    if (['internal', 'unknown', undefined].includes(code))
      expect.unreachable(
        `${method.name} ${isJson ? 'json' : 'proto'} ${Buffer.from(sent).toString('base64')}: ${code} ${Buffer.from(bytes)}`,
      );
    return code;
  };
  for (const [method, [schema, init]] of samples) {
    const message = create(schema, init);
    // What was valid stays so when it comes again; the state of its job may be another one by then.
    const [json, binary] = [Buffer.from(JSON.stringify(toJson(schema, message))), toBinary(schema, message)];
    for (const [isJson, body] of [
      [true, json],
      [false, binary],
    ] as const)
      expect([method.name, await send(method, isJson, body)]).not.toEqual([method.name, 'invalid_argument']);
  }
  for (let number = 0; number < count; number += 1) {
    const [method, sample] = samples[below(samples.length)]!;
    const isJson = below(2) === 0;
    await send(method, isJson, scrambled(below, isJson, sample));
  }
  expect([...seen.keys()].sort()).toEqual(expect.arrayContaining(['invalid_argument', 'ok']));
  expect(log.filter(({ level }) => level === 'error')).toEqual([]);
}
