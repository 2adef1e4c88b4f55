import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { knownSecrets, sanitizeErrorMessage } from './error-text.ts';

interface Case {
  about: string;
  text: string;
  secrets?: string[];
  gives?: string;
  hides?: string[];
}

const corpus: Case[] = JSON.parse(readFileSync(new URL('./error-text.corpus.json', import.meta.url), 'utf8'));

test.each(corpus)('$about', ({ text, secrets = [], gives, hides = [] }) => {
  const shown = sanitizeErrorMessage(text, { secrets });
  if (gives !== undefined) expect(shown).toBe(gives);
  for (const secret of hides) expect(shown).not.toContain(secret);
  expect(sanitizeErrorMessage(shown)).toBe(shown);
});

test('a text is cut after it was masked, so that no half of a secret is left', () => {
  const shown = sanitizeErrorMessage(`${'x '.repeat(45)}planted-value-1 more text`, {
    secrets: ['planted-value-1'],
    maxLength: 100,
  });
  expect(shown).toHaveLength(100);
  expect(shown).not.toContain('planted');
});

test('values of an environment are known as secrets by their names, or by how they look', () => {
  const env = {
    PATH: '/usr/bin:/bin',
    HOME: '/root',
    NODE_ENV: 'production',
    ANTHROPIC_API_KEY: 'planted-key-1',
    STRIPE_WEBHOOK_SECRET: 'planted-secret-22',
    DATABASE_URL: 'postgres://app:planted-password@db/x',
    SSH_AUTH_SOCK: process.execPath,
    SHORT_TOKEN: 'yes',
    EMPTY_TOKEN: undefined,
  };
  expect(knownSecrets(env)).toEqual([
    'postgres://app:planted-password@db/x',
    'planted-secret-22',
    'planted-password',
    'planted-key-1',
  ]);
});

test('half of a known secret is never shown, however much shorter the text before it becomes', () => {
  const secret = 'PlantedSecretValue-0123456789-abcdefgh';
  const before = Buffer.alloc(300, 'Zq9Xk2').toString('base64').slice(0, 180);
  const shown = sanitizeErrorMessage(`${before} ${secret} tail`, { secrets: [secret], maxLength: 100 });
  expect(shown).not.toContain('Planted');
});

test('a secret that looks like a path is one, unless there is such a file', () => {
  const key = '/Jalr/UtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY12';
  expect(knownSecrets({ AWS_SECRET_ACCESS_KEY: key, TLS_KEY: process.execPath })).toEqual([key]);
});

test('a secret is known as JSON writes it, and a password of an address as its server reads it', () => {
  const env = { KEY_FILE_SECRET: '{"v":"planted"}', DB: 'postgres://app:p%40ss-planted@db/x' };
  expect(knownSecrets(env)).toEqual([
    ...['postgres://app:p%40ss-planted@db/x', '{\\"v\\":\\"planted\\"}', '{"v":"planted"}'],
    ...['p%40ss-planted', 'p@ss-planted'],
  ]);
});

test.each(['A1b'.repeat(100_000), 'password '.repeat(20_000), 'Bearer '.repeat(20_000), 'A_'.repeat(100_000)])(
  'a text made to take long takes no time',
  (text) => {
    const before = performance.now();
    sanitizeErrorMessage(text, { maxLength: 100_000 });
    expect(performance.now() - before).toBeLessThan(5_000);
  },
);
