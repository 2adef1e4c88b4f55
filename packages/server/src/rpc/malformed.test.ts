import { gzipSync } from 'node:zlib';
import type { DescMethod } from '@bufbuild/protobuf';
import { JobEventsService, JobService, LogService } from '@waybill/protocol';
import { describe, expect, test } from 'vitest';
import { harness } from '../testing/harness.ts';
import { envelope, hasEnvelopes, sendWire, type WireCall } from '../testing/rpc-wire.ts';

const GET = JobService.method.getJob;
const DEQUEUE = JobService.method.dequeueJobs;
const PUBLISH = JobEventsService.method.publishEvents;
const STREAM = JobEventsService.method.streamEvents;
const FOLLOW = LogService.method.follow;
const METHODS: DescMethod[] = [GET, DEQUEUE, PUBLISH, STREAM, FOLLOW];
const PROTOCOLS = ['connect', 'grpc-web', 'grpc'] as const;
const CASES = PROTOCOLS.flatMap((protocol) => METHODS.map((method) => ({ protocol, method, name: method.name })));

/** The field 1 of every one of these requests is text or a message; its length says more than there is. */
const CUT_SHORT = Uint8Array.from([0x0a, 0xff, 0x01]);

async function sent(call: Omit<WireCall, 'body'>, message: Uint8Array | string, flags = 0) {
  const { app, log } = harness({ maintenance: false });
  const body = hasEnvelopes(call) ? envelope(message, flags) : Buffer.from(message);
  const end = await sendWire(app, { ...call, body });
  expect(log.filter(({ level }) => level === 'error')).toEqual([]);
  // Names of libraries, files and functions are of no use to a caller.
  expect(end.message).not.toMatch(/connect|bufbuild|zlib|MaxBytes|parse binary|node_modules|\bat [\w.]+ \(|Error:/i);
  return end;
}

describe.each(CASES)('a message that is none, to $name by $protocol', ({ protocol, method }) => {
  const type = method.input.typeName;
  const refused = { status: 'INVALID_ARGUMENT', code: 'invalid_payload' };

  test('as bytes is reported as the fault of the caller, with the reason', async () => {
    const message = `The message is no ${type} in protobuf's binary format: it ends in the middle of a field.`;
    expect(await sent({ protocol, method }, CUT_SHORT)).toMatchObject({ ...refused, message });
    expect((await sent({ protocol, method }, Uint8Array.from([0x07]))).message).toContain(
      'a field with a number or type',
    );
    // Field 1 is text in most of them, and these two bytes are none.
    if (method.input.fields.some(({ number, scalar }) => number === 1 && scalar === 9))
      expect((await sent({ protocol, method }, Uint8Array.from([0x0a, 2, 0xc3, 0x28]))).message).toContain('not UTF-8');
    const endless = Buffer.alloc(20, 0xff);
    expect(await sent({ protocol, method }, endless)).toMatchObject(refused);
  });

  test('as JSON, too', async () => {
    const json = { protocol, method, isJson: true };
    const cut = await sent(json, '{"a');
    expect(cut).toMatchObject({ ...refused, message: expect.stringContaining(`The message is no ${type} in JSON: `) });
    const unknown = await sent(json, '{"noSuchField":1}');
    expect(unknown).toMatchObject({ ...refused, message: expect.stringContaining('"noSuchField" is unknown') });
    // Half a character, which no header can carry.
    const half = await sent(json, '{"\\ud800":1}');
    expect(half).toMatchObject({ ...refused, message: expect.stringContaining('"\ufffd" is unknown') });
    const list = await sent(json, '[]');
    expect(list).toMatchObject(refused);
  });

  test('that says to be compressed and is not', async () => {
    const named = hasEnvelopes({ protocol, method })
      ? protocol === 'connect'
        ? 'connect-content'
        : 'grpc'
      : 'content';
    const headers = { [`${named}-encoding`]: 'gzip' };
    const call = { protocol, method, headers };
    const torn = gzipSync(Buffer.alloc(1_000)).subarray(0, 15);
    for (const bytes of [Buffer.from('no gzip at all'), torn])
      expect(await sent(call, bytes, 1)).toMatchObject({
        ...{ ...refused, message: 'The message is marked as compressed with gzip, and cannot be decompressed.' },
      });
    if (hasEnvelopes(call))
      expect(await sent({ protocol, method }, 'x', 1)).toMatchObject({
        ...{ ...refused, message: expect.stringContaining('no header of the call names a compression') },
      });
    const other = await sent({ ...call, headers: { [`${named}-encoding`]: 'br' } }, 'x', 1);
    expect(other).toMatchObject({ status: 'UNIMPLEMENTED', code: 'unsupported' });
  });

  test('that ends too soon', async () => {
    if (!hasEnvelopes({ protocol, method })) return;
    const { app } = harness({ maintenance: false });
    for (const body of [Buffer.from([0, 0]), envelope('much more').subarray(0, 8)])
      expect(await sendWire(app, { protocol, method, body })).toMatchObject({
        ...{ ...refused, message: 'The request ends in the middle of a message.' },
      });
  });
});

test('a stream that was fine until a message is damaged ends with the same error, and what was stored stays', async () => {
  const { app, waybill } = harness({ maintenance: false });
  const { job } = await waybill.jobs.enqueue({ type: 'x', args: [] });
  const given = await sendWire(app, {
    ...{ protocol: 'grpc', method: DEQUEUE, isJson: true },
    body: envelope('{"queue":"default","maxJobs":1}'),
  });
  const { taskToken } = JSON.parse(String(given.messages[0]));
  const good = envelope(JSON.stringify({ taskToken, events: [{ sequence: 1, type: 'own' }] }));
  for (const protocol of PROTOCOLS) {
    const body = (async function* () {
      yield good;
      yield envelope('{"events":[{]}');
    })();
    const end = await sendWire(app, { protocol, method: PUBLISH, isJson: true, body });
    expect(end).toMatchObject({ status: 'INVALID_ARGUMENT', code: 'invalid_payload' });
    expect(end.messages).toHaveLength(1);
  }
  expect((await waybill.jobs.journal(job.id)).entries).toHaveLength(1);
});

test.each(PROTOCOLS)('no message and two messages where one is taken are refused by %s', async (protocol) => {
  const { app } = harness({ maintenance: false });
  const two = Buffer.concat([envelope('{}'), envelope('{}')]);
  for (const body of [new Uint8Array(), two])
    expect(await sendWire(app, { protocol, method: FOLLOW, isJson: true, body })).toMatchObject({
      ...{
        status: 'UNIMPLEMENTED',
        message: expect.stringMatching(/^Follow takes one message, and (none was|more were) sent\.$/),
      },
    });
});

test.each([
  ['connect', 'connect-timeout-ms', 'soon'],
  ['connect', 'connect-timeout-ms', '86400001'],
  ['grpc-web', 'grpc-timeout', 'soon'],
  ['grpc', 'grpc-timeout', '25H'],
] as const)('a deadline by %s that is none is refused (%s: %s)', async (protocol, name, value) => {
  expect(await sent({ protocol, method: GET, headers: { [name]: value } }, '')).toMatchObject({
    ...{ status: 'INVALID_ARGUMENT', code: 'invalid_request', message: 'The deadline in the headers is not valid.' },
  });
});
