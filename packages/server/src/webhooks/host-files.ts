import type { LookupAddress } from 'node:dns';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { join } from 'node:path';
import type { Clock } from '@waybill/core';

/** A change of a file counts this much later at most. */
const READ_EVERY_MS = 5_000;
/** As the C library has it. */
const MOST_SEARCHED = 6;

const HOSTS =
  process.platform === 'win32'
    ? join(process.env['SystemRoot'] ?? 'C:\\Windows', 'System32', 'drivers', 'etc', 'hosts')
    : '/etc/hosts';

const LOOPBACK: readonly LookupAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

export interface HostFilePaths {
  /** @defaultValue /etc/hosts, or the file of Windows with the same contents */
  hosts?: string;
  /** @defaultValue /etc/resolv.conf */
  resolvConf?: string;
}

/** What this machine knows of names without a name server. */
export interface HostNames {
  readonly hosts: ReadonlyMap<string, readonly LookupAddress[]>;
  readonly search: readonly string[];
  /** A name with as many dots is asked for as it is before it is asked for below the search domains. */
  readonly ndots: number;
}

/** Reads the files again when a name is asked for and some seconds have passed. */
export class HostFiles {
  readonly #paths: Required<HostFilePaths>;
  readonly #clock: Clock;
  #readAt = Number.NEGATIVE_INFINITY;
  #texts: readonly string[] = [];
  #names: Promise<HostNames> | undefined;

  constructor({ hosts = HOSTS, resolvConf = '/etc/resolv.conf' }: HostFilePaths, clock: Clock) {
    this.#paths = { hosts, resolvConf };
    this.#clock = clock;
  }

  names(): Promise<HostNames> {
    const now = this.#clock.monotonic();
    if (this.#names && now < this.#readAt + READ_EVERY_MS) return this.#names;
    this.#readAt = now;
    this.#names = this.#read(this.#names);
    return this.#names;
  }

  async #read(before: Promise<HostNames> | undefined): Promise<HostNames> {
    const { hosts, resolvConf } = this.#paths;
    const texts = await Promise.all([textOf(hosts), textOf(resolvConf)]);
    // Some machines have very long files, which are parsed only when they have changed.
    if (before && texts.every((text, at) => text === this.#texts[at])) return before;
    this.#texts = texts;
    return { hosts: hostsOf(texts[0]), ...searchOf(texts[1]) };
  }
}

/** A file that is missing or cannot be read says nothing. */
const textOf = (path: string): Promise<string> => readFile(path, 'utf8').catch(() => '');

/** `localhost` is this machine also where the file does not say so, as RFC 6761 has it. */
export function hostIn({ hosts }: HostNames, name: string): readonly LookupAddress[] | undefined {
  return hosts.get(name) ?? (/(^|\.)localhost$/.test(name) ? LOOPBACK : undefined);
}

/** The names to ask for, in this order, without the dot at their end. */
export function candidatesOf({ search, ndots }: HostNames, host: string): string[] {
  if (host.endsWith('.')) return [host.slice(0, -1)];
  const below = search.map((domain) => `${host}.${domain}`);
  const dots = host.split('.').length - 1;
  return dots >= ndots ? [host, ...below] : [...below, host];
}

function hostsOf(text: string): Map<string, LookupAddress[]> {
  const hosts = new Map<string, LookupAddress[]>();
  for (const [address = '', ...names] of wordsOf(text)) {
    const family = isIP(address);
    if (family === 0) continue;
    for (const name of new Set(names.map((one) => one.toLowerCase()))) {
      const known = hosts.get(name) ?? [];
      if (!known.some((one) => one.address === address)) hosts.set(name, [...known, { address, family }]);
    }
  }
  return hosts;
}

function searchOf(text: string): Pick<HostNames, 'search' | 'ndots'> {
  let search: string[] = [];
  let ndots = 1;
  for (const [keyword, ...values] of wordsOf(text)) {
    // The last line of them counts.
    if (keyword === 'search' || keyword === 'domain') search = values.map((one) => one.replace(/\.$/, ''));
    if (keyword !== 'options') continue;
    for (const value of values) ndots = Number(/^ndots:(\d{1,2})$/.exec(value)?.[1] ?? ndots);
  }
  return { search: search.filter((one) => one !== '').slice(0, MOST_SEARCHED), ndots };
}

const wordsOf = (text: string): string[][] =>
  text.split('\n').map((line) =>
    line
      .replace(/[#;].*/, '')
      .trim()
      .split(/\s+/),
  );
