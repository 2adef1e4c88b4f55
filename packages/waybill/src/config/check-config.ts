import { closest, isObject } from '@waybill/core';
import { shownAddress, shownOrigin, shownWord } from '../connect/shown-address.ts';
import type { ConfigKey } from './config-key.ts';
import { KEYS, OWN_KEYS } from './keys.ts';
import { readValue, ruleOf, type Value } from './kinds.ts';
import { pathOf } from './paths.ts';
import { UNRESOLVED } from './references.ts';

/** A key as the file has it. */
export interface Found {
  key: ConfigKey;
  /** The path with the names that the file has in place of `*`. */
  path: string;
  /** These names. */
  names: readonly string[];
  value: Value;
}

export interface Checked {
  found: Found[];
  problems: string[];
}

interface Node {
  key?: ConfigKey;
  children: Map<string, Node>;
}

const TREE = treeOf(KEYS);
const QUEUE = /^[a-z0-9][a-z0-9.-]{0,127}$/;
const TASK = /^[a-z][a-z0-9_.-]{0,254}$/;

/** Holds a document against the table of keys, and answers everything that is wrong with it at once. */
export function checkConfig(document: unknown, file: string, variables: ReadonlyMap<string, string[]>): Checked {
  const [found, problems]: [Found[], string[]] = [[], []];
  const visit = (node: Node, value: unknown, parts: readonly string[], names: readonly string[]): void => {
    if (value === UNRESOLVED) return;
    const path = pathOf(parts);
    const isSection = node.children.size > 0;
    // A section whose keys are all comments, or a queue of which only the name is given.
    if (isSection && value === null && (node.key === undefined || node.key.path === 'worker.queues.*')) return;
    if (isSection && isObject(value)) {
      for (const [name, item] of Object.entries(value)) {
        const child = node.children.get(name) ?? node.children.get('*');
        if (child === undefined) problems.push(unknownKey(node, [...parts, name], file));
        else if (!node.children.has(name) && !namesIn(parts).pattern.test(name))
          problems.push(`'${pathOf([...parts, name])}' in ${file} is not ${namesIn(parts).rule}`);
        else visit(child, item, [...parts, name], node.children.has(name) ? names : [...names, name]);
      }
      return;
    }
    const { key } = node;
    if (key === undefined) {
      problems.push(
        `'${path}' in ${file} must be a section with keys such as ${someOf(node)}, not ${typeName(value)}.`,
      );
      return;
    }
    const read = readValue(key.kind, value);
    if (read !== undefined) found.push({ key, path, names, value: read });
    else problems.push(wrongValue(key, path, value, file, variables.get(path)));
  };
  visit(TREE, document, [], []);
  return { found, problems };
}

const QUEUES = {
  pattern: QUEUE,
  rule: "the name of a queue. Use 1 to 128 characters of a-z, 0-9, '.' and '-'.",
};
const TASKS = { pattern: TASK, rule: 'a type of jobs. Use lower-case words joined by dots, such as email.send.' };

/** What the names of a section stand for. */
const namesIn = (parts: readonly string[]) => (pathOf(parts) === 'health.tasks' ? TASKS : QUEUES);

function treeOf(keys: readonly ConfigKey[]): Node {
  const root: Node = { children: new Map() };
  for (const key of keys) {
    let node = root;
    for (const part of key.path.split('.')) {
      const next: Node = node.children.get(part) ?? { children: new Map() };
      node.children.set(part, next);
      node = next;
    }
    node.key = key;
  }
  return root;
}

/** Proposes a neighbour, else a key of the same name in another section. */
function unknownKey({ children }: Node, parts: readonly string[], file: string): string {
  const last = parts.at(-1)!;
  const near = closest(last, [...children.keys()]);
  const elsewhere = OWN_KEYS.find(({ path }) => path.split('.').at(-1) === last)?.path;
  const meant = near === undefined ? elsewhere : [...parts.slice(0, -1), near].join('.');
  const advice = meant === undefined ? ` Known here: ${[...children.keys()].join(', ')}.` : ` Did you mean '${meant}'?`;
  return `Unknown key '${pathOf(parts)}' in ${file}.${advice}`;
}

function wrongValue(key: ConfigKey, path: string, value: unknown, file: string, from: string[] | undefined): string {
  const rule = `'${path}' in ${file} ${ruleOf(key.kind)}`;
  if (value === null) return `${rule}, and has no value. Give it one, or leave the key out.`;
  // What a variable holds may be secret wherever it is put.
  if (from !== undefined) return `${rule}. Check ${from.map((name) => `\${${name}}`).join(' and ')}.`;
  if (key.secret || typeof value === 'object' || typeof value === 'function') return `${rule}, not ${typeName(value)}.`;
  const { kind } = key;
  const address = kind.is === 'address' && kind.hidesPath ? shownOrigin : shownAddress;
  const shown = kind.is === 'address' ? address(String(value)) : shownWord(String(value)).slice(0, 60);
  const meant = key.kind.is === 'choice' ? closest(String(value), key.kind.of) : undefined;
  const advice = meant === undefined ? '' : ` Did you mean '${meant}'?`;
  return `${rule}${shown === '' ? '' : `, not '${shown}'`}.${advice}`;
}

const someOf = ({ children }: Node): string =>
  [...children.keys()]
    .slice(0, 3)
    .map((name) => (name === '*' ? 'the names of queues' : `'${name}'`))
    .join(', ');

function typeName(value: unknown): string {
  if (value === null) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : `a value of type ${typeof value}`;
}
