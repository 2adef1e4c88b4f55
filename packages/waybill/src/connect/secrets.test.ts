import { createServer } from 'node:net';
import { remote } from '@waybill/client/http';
import { rpcRemote } from '@waybill/client/rpc';
import fc from 'fast-check';
import { expect, onTestFinished, test, vi } from 'vitest';
import { Terminal } from '../cli/testing/terminal.ts';
import { connect } from '../sdk/connect.ts';
import { readBlobs } from './open-blobs.ts';
import { readTransport } from './open-transport.ts';
import { parseAddress, parseStoreAddress } from './parse-address.ts';
import { shownAddress } from './shown-address.ts';

const SECRET = 'S3cr3tT0ken';

/** Everything that a log or a terminal could show of an error. */
function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { message, stack, cause, ...fields } = error as Error & Record<string, unknown>;
  return [message, stack, JSON.stringify(fields), cause === undefined ? '' : textOf(cause)].join('\n');
}

async function refusal(attempt: () => unknown): Promise<string> {
  try {
    await attempt();
    return '';
  } catch (error) {
    return textOf(error);
  }
}

/** What people forget to encode, around the secret or instead of it. */
const junk = fc.string({
  unit: fc.constantFrom('/', '?', '#', '@', ':', '&', '=', '%', '\\', '.', '1', '9', 'a', ' '),
});
const secretIn = (unit: fc.Arbitrary<string>) => fc.tuple(unit, unit).map(([before, after]) => before + SECRET + after);
const password = secretIn(junk);
const value = secretIn(fc.string({ unit: fc.constantFrom('/', '@', ':', '=', '%', '.', '1', 'a', '#') }));

const scheme = fc.constantFrom(
  ...[
    'sqlite',
    'postgres',
    'postgresql',
    'dynamodb',
    'http',
    'https',
    'grpc',
    'grpcs',
    'sqs',
    's3',
    'file',
    'SQLITE',
    'Postgres',
  ],
  ...['postgers', 'redis', 'htp', 'sqss', 'localhost', 'u'],
);
const name = fc.constantFrom(
  ...['password', 'pasword', 'sslpasword', 'token', 'endpoint', 'endpont', 'listen_url', 'schema', 'schem', 'pool'],
  ...['durability', 'threshold', 'ready', 'region', 'api_key', 'pass%77ord'],
);
const host = fc.constantFrom('h', 'h:5432', 'h:99999', '[::1]:1', 'h:none', '', 'eu-west-1', '127.0.0.1:0');
const path = fc.constantFrom('', '/', '/db', '/a/b.db', '/a@b');
const query = fc.array(fc.tuple(name, value), { minLength: 1, maxLength: 3 });

const withValues = fc
  .tuple(scheme, fc.constantFrom('://', ':'), host, path, query)
  .map(([s, slashes, h, p, pairs]) => `${s}${slashes}${h}${p}?${pairs.map((pair) => pair.join('=')).join('&')}`);
const withUser = fc
  .tuple(scheme, fc.constantFrom('://', ':'), password, host, path, fc.constantFrom('', '?schem=x', '?pool=0'))
  .map(([s, slashes, secret, h, p, q]) => `${s}${slashes}u:${secret}@${h}${p}${q}`);
const withoutScheme = fc.tuple(password, host, path).map(([secret, h, p]) => `u:${secret}@${h}${p}`);
const asUser = fc.tuple(scheme, host, path).map(([s, h, p]) => `${s}://${SECRET}@${h}${p}?schem=1`);
const inEndpoint = fc
  .tuple(fc.constantFrom('dynamodb://r/t', 'sqs://r/p', 's3://b'), password)
  .map(([place, secret]) => `${place}?endpoint=http://u:${secret}@h`);

test('D3: no message shows a secret, wherever it stands in an address of whatever scheme', async () => {
  const terminal = new Terminal();
  await fc.assert(
    fc.asyncProperty(fc.oneof(withValues, withUser, withoutScheme, asUser, inEndpoint), async (address) => {
      // Where the name of an option was forgotten, or another one was given.
      const lines = [['jobs', 'list', address], ['work', address], ['serve', '--port', address], [address]];
      const told = await Promise.all(lines.map((line) => terminal.run(...line)));
      const texts = [
        shownAddress(address),
        await refusal(() => parseAddress(address)),
        await refusal(() => parseStoreAddress(address)),
        await refusal(() => readTransport(address)),
        await refusal(() => readBlobs(address)),
        await refusal(() => remote(address).close()),
        await refusal(() => rpcRemote(address).close()),
        ...told.map(({ out, err }) => out + err),
      ];
      expect(texts.find((text) => text.includes(SECRET))).toBeUndefined();
    }),
    { numRuns: 1_000 },
  );
});

test('D3: the command shows no secret of its store', async () => {
  const misspelt = `dynamodb://r/t?pasword=${SECRET}`;
  for (const store of [`postgers://u:${SECRET}@h/db`, `http://h?token=${SECRET}`, misspelt, `u:1/${SECRET}@h/db`]) {
    const terminal = new Terminal(store);
    for (const line of [['doctor'], ['migrate'], ['jobs', 'list']]) {
      const { code, out, err } = await terminal.run(...line);
      expect(code).not.toBe(0);
      expect(out + err).not.toContain(SECRET);
    }
  }
});

test('D3: a PostgreSQL that refuses the password is told of without it', async () => {
  const fields = ['SFATAL', 'VFATAL', 'C28P01', 'Mpassword authentication failed for user "u"', ''];
  const body = Buffer.from(`${fields.join('\0')}\0`);
  const head = Buffer.from([0x45, 0, 0, 0, body.length + 4]);
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => socket.end(Buffer.concat([head, body])));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const lines: string[] = [];
  const written = vi.spyOn(console, 'error').mockImplementation((line: string) => void lines.push(line));
  onTestFinished(() => written.mockRestore());
  const { port } = server.address() as { port: number };
  const address = `postgres://u:${SECRET}@127.0.0.1:${port}/db?pasword=${SECRET}`;
  const text = await refusal(() => connect(address));
  expect(text).toContain('password authentication failed');
  expect(text + lines.join('\n')).not.toContain(SECRET);
});
