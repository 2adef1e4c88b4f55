import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { inspect } from 'node:util';
import { hashOfSecret, type Logger, newSecret, silentLogger } from '@waybill/core';
import { TestClock } from '@waybill/core/testing';
import { expect, onTestFinished, test } from 'vitest';
import { givenKeys } from './given-keys.ts';

const SECRET = 'a-secret-of-some-length-0123';
const OTHER = newSecret('abcdefghjkmn');
const plain = { name: 'ci', secret: SECRET, scopes: ['enqueue'] };
const hashed = { name: 'worker', sha256: hashOfSecret(OTHER).toUpperCase(), scopes: ['work'], tenant: 'acme' };

function fileOf(content: unknown): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'waybill-keys-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = path.join(folder, 'keys.json');
  put(file, content);
  return file;
}

/** As editors and mounted secrets do it: the file is never seen half written. */
function put(file: string, content: unknown): void {
  writeFileSync(`${file}.new`, typeof content === 'string' ? content : JSON.stringify(content), { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

function watched(file: string) {
  const clock = new TestClock();
  const lines: [string, object, string][] = [];
  const at = (level: string) => (fields: object, message: string) => void lines.push([level, fields, message]);
  const logger: Logger = { ...silentLogger, info: at('info'), warn: at('warn') };
  return { keys: givenKeys({ file }, { clock, logger }), clock, lines };
}

test('a list in the environment or in a file says who shows a secret', async () => {
  const more = {
    id: 'k1',
    queues: ['mail'],
    types: ['a.b'],
    requests_per_minute: 5,
    expires_at: '2100-01-01T00:00:00Z',
  };
  const text = JSON.stringify([{ ...plain, ...more }, hashed]);
  for (const source of [{ text }, { file: fileOf(text) }]) {
    const keys = givenKeys(source);
    expect(await keys.identify(SECRET)).toEqual({
      principal: { id: 'k1', tenant: '', scopes: ['enqueue'], queues: ['mail'], types: ['a.b'] },
      ...{ name: 'ci', requestsPerMinute: 5, expiresAt: Date.UTC(2100, 0, 1) },
    });
    expect(await keys.identify(OTHER)).toEqual({
      principal: { id: 'worker', tenant: 'acme', scopes: ['work'] },
      ...{ name: 'worker', expiresAt: null },
    });
    for (const wrong of ['', SECRET.slice(1), `${SECRET} `, hashed.sha256, hashed.sha256.toLowerCase(), `${OTHER}x`])
      expect(await keys.identify(wrong)).toBeNull();
  }
});

test('a key of a list ends when it expires, and a server may start with one that has', async () => {
  const clock = new TestClock();
  const expires_at = new Date(clock.now() + 60_000).toISOString();
  const text = JSON.stringify([
    { ...plain, expires_at },
    { ...hashed, expires_at: '2001-01-01T00:00:00Z' },
  ]);
  const keys = givenKeys({ text }, { clock });
  expect(await keys.identify(OTHER)).toBeNull();
  expect(await keys.identify(SECRET)).not.toBeNull();
  await clock.advance(60_000);
  expect(await keys.identify(SECRET)).toBeNull();
});

test('a file that has changed is read again within a second', async () => {
  const file = fileOf([plain]);
  const { keys, clock, lines } = watched(file);
  put(file, [hashed]);
  expect(await keys.identify(SECRET)).not.toBeNull();
  await clock.advance(1_000);
  expect(await keys.identify(SECRET)).toBeNull();
  expect(await keys.identify(OTHER)).not.toBeNull();
  expect(lines).toEqual([['info', { file, keys: 1 }, 'The file of keys was read again.']]);
});

test('a new version that cannot be used changes nothing, and is told of once', async () => {
  const file = fileOf([plain]);
  const { keys, clock, lines } = watched(file);
  const after = async (content?: unknown) => {
    if (content !== undefined) put(file, content);
    await clock.advance(1_000);
    return keys.identify(SECRET);
  };
  const broken = [`[{"secret":"${OTHER}"`, [{ ...hashed, scopes: ['root'] }], {}, `[${' '.repeat(1024 * 1024)}]`];
  for (const content of broken) expect(await after(content)).not.toBeNull();
  expect(await after()).not.toBeNull();
  expect(lines.map(([level]) => level)).toEqual(broken.map(() => 'warn'));
  rmSync(file);
  expect([await after(), await after()]).not.toContain(null);
  expect(lines.at(-1)).toMatchObject(['warn', { reason: `Cannot read ${file}: ENOENT.` }, expect.any(String)]);
  expect(lines).toHaveLength(broken.length + 1);
  expect(await after([hashed])).toBeNull();
  expect(lines.at(-1)).toMatchObject(['info', { keys: 1 }, expect.any(String)]);
  for (const secret of [SECRET, OTHER]) expect(inspect(lines, { depth: 10 })).not.toContain(secret);
});

// Windows has none.
test.skipIf(process.platform === 'win32')('a pipe in the place of the file holds up nobody', async () => {
  const file = fileOf([plain]);
  const { keys, clock, lines } = watched(file);
  rmSync(file);
  execFileSync('mkfifo', [file]);
  await clock.advance(1_000);
  expect(await keys.identify(SECRET)).not.toBeNull();
  expect(lines).toMatchObject([['warn', { reason: `${file} is no file any more.` }, expect.any(String)]]);
});

test('many callers cause one look at the file', async () => {
  const file = fileOf([plain]);
  const { keys, clock, lines } = watched(file);
  put(file, [plain, hashed]);
  await clock.advance(1_000);
  await Promise.all(Array.from({ length: 50 }, () => keys.identify(SECRET)));
  expect(lines.map(([, , message]) => message)).toEqual(['The file of keys was read again.']);
});

// Windows has no such rights.
test.skipIf(process.platform === 'win32')('secrets that other users may read are warned of, hashes are not', () => {
  const open = fileOf([plain]);
  chmodSync(open, 0o644);
  expect(watched(open).lines).toMatchObject([
    ['warn', { hint: expect.stringContaining('chmod 600') }, expect.any(String)],
  ]);
  const harmless = fileOf([hashed]);
  chmodSync(harmless, 0o644);
  expect(watched(harmless).lines).toEqual([]);
  expect(watched(fileOf([plain])).lines).toEqual([]);
});

test.each<[string, unknown, string]>([
  ['no JSON', `[{"secret":"${SECRET}",]`, 'is no JSON at line 1 column'],
  ['no list', { keys: [] }, 'must hold a JSON list of keys'],
  ['a list of something else', [SECRET], "Entry 1 of WAYBILL_KEYS: 'entry' must be an object, not string."],
  ['no name', [{ ...plain, name: undefined }], "Entry 1 of WAYBILL_KEYS: 'name' is required."],
  ['no scopes', [plain, { ...hashed, scopes: [] }], "Entry 2 ('worker') of WAYBILL_KEYS: 'scopes' must name"],
  ['an unknown scope', [{ ...plain, scopes: ['root'] }], "'scopes' must be among"],
  ['neither secret nor hash', [{ ...plain, secret: undefined }], "'sha256' is required, or 'secret'"],
  ['both', [{ ...plain, sha256: hashed.sha256 }], "'sha256' is required, or 'secret'"],
  ['a hash that is none', [{ ...hashed, sha256: SECRET }], "'sha256' must be the SHA-256"],
  ['a short secret', [{ ...plain, secret: 's3cr3t-s3cr3t' }], "'secret' must have 24 to 1024"],
  ['a secret with a space', [{ ...plain, secret: `${SECRET} x` }], "'secret' must have 24 to 1024"],
  ['a misspelt field', [{ ...plain, scope: 'read' }], "Did you mean 'scopes'?"],
  ['a tenant that is none', [{ ...plain, tenant: '~system' }], "'tenant' must not begin with"],
  ['a queue that is none', [{ ...plain, queues: ['Not Valid'] }], "'queues[0]' must be"],
  ['types for a worker', [{ ...hashed, types: ['a.b'] }], "'types' cannot narrow"],
  ['a rate that is none', [{ ...plain, requests_per_minute: 0 }], "'requests_per_minute' must be"],
  ['an end that is none', [{ ...plain, expires_at: 'P90D' }], "'expires_at' must be an RFC 3339 time"],
  ['one id twice', [plain, { ...hashed, name: 'ci' }], 'Entry 2 of WAYBILL_KEYS has the id'],
  ['one secret twice', [plain, { ...plain, name: 'cd' }], 'Entry 2 of WAYBILL_KEYS has the secret'],
  ['too many', Array.from({ length: 1_001 }, (_, n) => ({ ...plain, name: `n${n}` })), 'at most 1000 keys'],
])('%s is refused, and no value is told', (_, content, why) => {
  const text = typeof content === 'string' ? content : JSON.stringify(content);
  let error: unknown;
  try {
    givenKeys({ text });
  } catch (reason) {
    error = reason;
  }
  expect(error).toMatchObject({ code: 'invalid_request', message: expect.stringContaining(why) });
  const told = inspect(error, { depth: 10, showHidden: true });
  for (const secret of [SECRET, OTHER, 's3cr3t-s3cr3t']) expect(told).not.toContain(secret);
});

test('a file that is not there is refused at the start', () => {
  expect(() => givenKeys({ file: '/nowhere/keys.json' })).toThrow('Cannot read /nowhere/keys.json: ENOENT.');
});
