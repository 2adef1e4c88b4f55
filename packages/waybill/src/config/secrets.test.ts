// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references of the configuration file look like placeholders.
import path from 'node:path';
import { expect, test } from 'vitest';
import { Terminal } from '../cli/testing/terminal.ts';
import { OWN_KEYS } from './keys.ts';
import { configFolder } from './testing/config-folder.ts';

/** Letters that occur nowhere else. */
const SECRET = 'pl4ntedc0ffee';

/** An object with one value at this path. */
const at = (where: string, value: unknown): object =>
  where
    .split('.')
    .reverse()
    .reduce<unknown>((inner, part) => ({ [part === '*' ? 'mail' : part]: inner }), value) as object;

/** The command on a file with this content; everything that it says. */
async function said(document: object | string, args: string[], env: Record<string, string> = {}): Promise<string> {
  const text = typeof document === 'string' ? document : JSON.stringify(document);
  const folder = configFolder({ 'a.yaml': text });
  const terminal = new Terminal();
  terminal.env = { WAYBILL_STORE: '', WAYBILL_CONFIG: path.join(folder, 'a.yaml'), ...env };
  const { code, out, err } = await terminal.run(...args);
  expect(`${out}${err}`.length).toBeGreaterThan(10);
  return `${code} ${out}${err}`;
}

const COMMANDS = [['config', 'check'], ['config', 'show'], ['config', 'show', '--json'], ['serve'], ['work']];

/** Of keys that are only right with others, or that hold an address. */
const RIGHT: Readonly<Record<string, object>> = {
  'alerts.slack.token': { alerts: { slack: { token: SECRET, channel: 'C1' } } },
  'alerts.slack.webhook': at('alerts.slack.webhook', `https://hooks.example/${SECRET}`),
  'alerts.webhook.url': at('alerts.webhook.url', `https://hooks.example/${SECRET}`),
};

const secretKeys = OWN_KEYS.filter(({ secret }) => secret).map((key) => key.path);
const addresses = OWN_KEYS.filter(({ kind }) => kind.is === 'address').map((key) => key.path);

test('there are secrets to plant', () => {
  expect(secretKeys).toEqual([
    ...['server.keys', 'server.tokenSecret', 'worker.key'],
    ...['alerts.slack.token', 'alerts.slack.webhook', 'alerts.webhook.url', 'alerts.webhook.secret'],
    'telemetry.headers',
  ]);
  expect(addresses).toContain('store');
});

test.each(secretKeys)('%s is never shown, whatever is wrong with it', async (key) => {
  // The last one makes every command refuse the file, so that none of them begins to listen.
  for (const value of [`${SECRET}`, [SECRET], { a: SECRET }, 7]) {
    const isRight = value === SECRET;
    const document = isRight ? (RIGHT[key] ?? at(key, value)) : { ...at(key, value), nope: 1 };
    for (const args of isRight ? COMMANDS.slice(0, 3) : COMMANDS) {
      const text = await said(document, args);
      expect([args, value, text.includes(SECRET)]).toEqual([args, value, false]);
      if (isRight && args[1] === 'show') expect(text).toContain('***');
    }
  }
});

test.each(addresses)('of %s only what is safe is shown', async (key) => {
  for (const value of [
    `postgres://ada:${SECRET}@db.example/jobs`,
    `http://h/x?password=${SECRET}`,
    `ada:${SECRET}@db/jobs`,
    `postgres://ada:a@b/${SECRET}@db/jobs`,
    `sqs://r/p?endpoint=http://ada:${SECRET}@h`,
    [`postgres://ada:${SECRET}@db/jobs`],
  ]) {
    for (const args of COMMANDS.slice(0, 3)) expect(await said(at(key, value), args)).not.toContain(SECRET);
    for (const args of COMMANDS) expect(await said({ ...at(key, value), nope: 1 }, args)).not.toContain(SECRET);
  }
});

test('of the address of a collector only the origin is shown, because its path may hold a key', async () => {
  const value = `https://collector.example/v1/${SECRET}?api_key=${SECRET}`;
  for (const document of [at('telemetry.endpoint', value), {}]) {
    const text = await said(document, ['config', 'show'], { OTEL_EXPORTER_OTLP_ENDPOINT: value });
    expect(text).toContain('https://collector.example ');
    expect(text).not.toContain(SECRET);
  }
});

test('what variables hold is shown nowhere but in the settings that are not secret', async () => {
  const env = { PASSWORD: SECRET };
  const reference = '${PASSWORD}';
  for (const key of OWN_KEYS.filter(({ kind }) => !['text', 'list'].includes(kind.is)))
    expect(await said(at(key.path, reference), ['config', 'check'], env)).not.toContain(SECRET);
  const store = `postgres://ada:${reference}@db/jobs`;
  for (const args of COMMANDS.slice(0, 3)) expect(await said({ store }, args, env)).not.toContain(SECRET);
  // A flag or a variable may also hold what it should not.
  for (const flag of ['--port', '--store', '--transport', '--concurrency'])
    expect(await said({}, ['config', 'show', flag, `postgres://ada:${SECRET}@db/jobs`])).not.toContain(SECRET);
});

test.each([
  `store: postgres://ada:${SECRET}@db\n  bad: [${SECRET}`,
  `store: "postgres://ada:${SECRET}@db\n`,
  `{ store: "postgres://ada:${SECRET}@db/jobs", postgres://ada:${SECRET}@db: 1 }`,
  `server: { tokenSecrt: ${SECRET} }`,
  `- ${SECRET}`,
  `!!${SECRET} x`,
  SECRET,
])('a file that cannot be read is not quoted: %#', async (text) => {
  for (const args of COMMANDS) expect(await said(text, args)).not.toContain(SECRET);
});
