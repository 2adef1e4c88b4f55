import fc from 'fast-check';
import { expect, test } from 'vitest';
import { BAD_FIELDS, BAD_RETRY_FIELDS, withField } from '../testing/bad-fields.ts';
import { fromSchema } from '../testing/from-schema.ts';
import { type Answer, type Harness, harness, MEDIA_TYPE } from '../testing/harness.ts';
import { problems } from '../testing/json-schema.ts';
import { bodyOf, operationFor, operations, type Parameter, parametersOf, resolve } from '../testing/openapi.ts';

/** Requests for each operation; without a body there is little to draw. */
const RUNS = { withBody: 25, without: 8 };

/** Texts that only the server can make; a test that made one up would test nothing but its refusal. */
const OPAQUE = new Set(['cursor', 'after', 'Last-Event-ID', 'If-Match', 'tenant']);
/** The clock of the test stands still, so nobody would end this wait; and only an operator may name a tenant beside the header. */
const SKIPPED = new Set(['wait_ms', 'tenant']);

/** Rules that no schema can express; the file states them in words. */
const IN_WORDS: [field: RegExp, message: RegExp][] = [
  [/\bunique\.(key|args_keys|meta_keys)$/, /which the job does not have|is required when 'keys' names meta/],
  [/\bretry\.max_interval$/, /must not be shorter than/],
  [/^(expression|timezone)$/, /./],
  [/(depends_on|\.id)$/, /which is no node here|every node needs a name of its own/],
  [/^(nodes|steps)$/, /go in a circle/],
  [/\]\.(when|delay_ms|if_skipped|map)\b/, /is about a node's parents|does not depend on|exactly one of them/],
  [/^map\.concurrency$/, /contradicts 'rate_limit'/],
  [/^expires_at$/, /must lie in the future/],
  [/^types$/, /cannot narrow the scope work/],
  [/^scopes$/, /may have 'metrics' only in a key for all tenants/],
  [/^tasks\[\d+\]\.name$/, /there is no task definition/],
  [/^tasks(\[\d+\]\.(taskId|dependsOn\[\d+\]))?$/, /an earlier task|is no task here|go in a circle/],
  [/^(paused|secret)$/, /cannot be changed by this call/],
  // Which of its fields an entry has depends on its type, and which parameters a journal takes on the Accept.
  [/^entries\[\d+\]\.(output|stream|data)$/, /is for 'output' only|is not for 'output'|must be bytes/],
  [/^entries\[\d+\]\.type$/, /are Waybill's own/],
  [/^entries\[\d+\]\.output_base64$/, /contradicts 'output'/],
  [/^entries\[\d+\]\.time$/, /must not be before 1970/],
  [/^entries\[\d+\]\.sequence$/, /must be more than \d+, the one before it/],
  [/^(limit|follow|lifecycle|stay|stream)$/, /ask for it by Accept/],
  [/^$/, /^This server has no sessions\.$/],
];

const isInWords = ({ details, message }: { details?: { field?: string }; message: string }): boolean =>
  IN_WORDS.some(([field, text]) => field.test(details?.field ?? '') && text.test(message));

interface Drawn {
  path: Record<string, unknown>;
  query: Record<string, unknown>;
  body: unknown;
}

function requestOf(key: string): fc.Arbitrary<Drawn> {
  const all = parametersOf(key).filter(({ name }) => !OPAQUE.has(name));
  const given = (place: Parameter['in'], isOptional: (one: Parameter) => boolean) => {
    const own = all.filter((one) => one.in === place);
    const values = Object.fromEntries(own.map(({ name, schema }) => [name, fromSchema(schema)]));
    return fc.record(values, { requiredKeys: own.filter((one) => !isOptional(one)).map(({ name }) => name) });
  };
  const schema = bodyOf(operations().get(key)!);
  return fc.record({
    path: given('path', () => false),
    query: given('query', ({ required }) => !required),
    body: schema ? fromSchema(schema) : fc.constant(undefined),
  });
}

const listed = (value: unknown): string => (Array.isArray(value) ? value.join(',') : String(value));

async function send({ raw }: Harness, key: string, { path, query, body }: Drawn): Promise<Answer> {
  const [method, pattern] = key.split(' ') as [string, string];
  const where = pattern.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(path[name])));
  const asked = new URLSearchParams(
    Object.entries(query).map(([name, value]) => [name, listed(value)] as [string, string]),
  );
  const content = body as Record<string, unknown> | undefined;
  const sent = content && Object.fromEntries(Object.entries(content).filter(([name]) => !SKIPPED.has(name)));
  return raw(method, `${where}?${asked}`, {
    headers: { 'Content-Type': MEDIA_TYPE },
    ...(sent && { body: JSON.stringify(sent) }),
  });
}

test.each([...operations().keys()])('C9: %s takes every request that the OpenAPI file allows', async (key) => {
  const server = harness({ maintenance: false });
  await fc.assert(
    fc.asyncProperty(requestOf(key), async (request) => {
      const { status, body } = await send(server, key, request);
      if (status < 400 || [404, 409].includes(status)) return;
      expect([status, body.error]).toEqual([status, expect.toSatisfy(isInWords)]);
    }),
    { numRuns: bodyOf(operations().get(key)!) ? RUNS.withBody : RUNS.without },
  );
});

/** What these bodies are refused for is a matter of several values together. */
const TOGETHER = [
  ...[/"args_keys":\["no"\]/, /"keys":\["meta"\]/],
  ...[/"depends_on":\["(a|z|b|c)"\]/, /\{"id":"a","depends_on":\[\],.*\{"id":"a"/],
];

test.each(BAD_FIELDS)('C9: what $path refuses, the OpenAPI file forbids', ({ method = 'post', path, good, bad }) => {
  const schema = bodyOf(operationFor(method.toUpperCase(), path)!)!;
  const problemsIn = (body: object) => problems(schema, JSON.parse(JSON.stringify(body)), 'body', resolve);
  expect(problemsIn(good)).toEqual([]);
  for (const [field, values] of Object.entries(bad)) {
    for (const value of values) {
      const body = withField(good, field, value);
      if (TOGETHER.some((one) => one.test(JSON.stringify(body)))) continue;
      expect([field, JSON.stringify(value)?.slice(0, 80), problemsIn(body).length > 0]).toContain(true);
    }
  }
});

test('C9: what a retry policy is refused for, the OpenAPI file forbids', () => {
  const schema = bodyOf(operationFor('POST', '/ojs/v1/jobs')!)!;
  for (const [field, values] of Object.entries(BAD_RETRY_FIELDS)) {
    for (const value of values) {
      const found = problems(schema, withField({ type: 'a.b', args: [] }, field, value), 'body', resolve);
      expect([field, value, found.length > 0]).toContain(true);
    }
  }
});
