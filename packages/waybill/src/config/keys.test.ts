import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { Options } from '../cli/command.ts';
import { COMMANDS } from '../cli/commands/index.ts';
import { KEYS, OWN_KEYS } from './keys.ts';
import { ruleOf } from './kinds.ts';

const flagsOf = (name: string): Options => COMMANDS.find((command) => command.name === name)!.options;
/** They are about one call of the command. */
const apart = ['config', 'env-file', 'preset', 'quiet'];
const all: Options = { ...flagsOf('serve'), ...flagsOf('dev'), ...flagsOf('work') };

test('every flag of serve, dev and work has a key, and every key a flag that exists', () => {
  const known = OWN_KEYS.flatMap(({ flag }) => flag ?? []);
  expect(Object.keys(all).filter((flag) => !known.includes(flag) && !apart.includes(flag))).toEqual([]);
  expect(known.filter((flag) => !Object.hasOwn(all, flag))).toEqual([]);
});

test('flag and variable of a key belong together, as the help says', () => {
  const told = Object.entries(all).flatMap(([flag, { default: text = '' }]) => {
    const env = /^(WAYBILL_[A-Z_]+)(?!:)(?:,|$)/.exec(text)?.[1];
    return env === undefined ? [] : [{ flag, env }];
  });
  expect(told.length).toBeGreaterThan(15);
  const pairs = OWN_KEYS.map(({ flag, env }) => ({ flag, env }));
  expect(
    told.filter(
      (pair) => !apart.includes(pair.flag) && !pairs.some(({ flag, env }) => flag === pair.flag && env === pair.env),
    ),
  ).toEqual([]);
});

test('each path stands once, and each key has a place for its value', () => {
  expect(new Set(KEYS.map(({ path }) => path)).size).toBe(KEYS.length);
  const homeless = KEYS.filter(({ env, flag, option, standsFor }) => !env && !flag && !option && !standsFor);
  // These are read together with their section.
  expect(homeless.map(({ path }) => path)).toEqual([
    ...['worker.queues.*', 'worker.queues.*.weight', 'worker.queues.*.concurrency'],
  ]);
  const targets = KEYS.flatMap(({ standsFor = [] }) => standsFor);
  expect(targets.filter((target) => !OWN_KEYS.some(({ path }) => path === target))).toEqual([]);
});

test('docs/configuration.md has the table of keys as it is', () => {
  const page = readFileSync(new URL('../../../../docs/configuration.md', import.meta.url), 'utf8');
  const rows = KEYS.map(({ path, kind, about, env, flag, default: fallback, secret }) => {
    const beatenBy = [flag && `\`--${flag}\``, env && `\`${env}\``].filter(Boolean).join(', ');
    const value = ruleOf(kind).replace('must be ', '');
    return `| \`${path}\` | ${about}${secret ? ' (secret)' : ''} | ${value} | ${fallback ?? ''} | ${beatenBy} |`;
  });
  const shown = page.split('\n').filter((line) => /^\| `[\w.*]+` \|/.test(line));
  expect(shown).toEqual(rows);
});
