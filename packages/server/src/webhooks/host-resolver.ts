import { promises as dns, type LookupAddress } from 'node:dns';
import { isIP } from 'node:net';
import { type Clock, systemClock } from '@waybill/core';
import { candidatesOf, type HostFilePaths, HostFiles, type HostNames, hostIn } from './host-files.ts';

/** The addresses of a host. Rejects when the signal is aborted, and with a `code` when there is none. */
export type Resolve = (host: string, signal: AbortSignal) => Promise<readonly LookupAddress[]>;

export interface HostResolverOptions extends HostFilePaths {
  /** Addresses of name servers, also with a port. @defaultValue those of this machine */
  servers?: readonly string[];
  /** A question waits this long for each name server, and about twice as long the second time. @defaultValue 1_500 */
  timeoutMs?: number;
  /** For the age of what is remembered. @defaultValue the clock of this machine */
  clock?: Clock;
}

const TIMEOUT_MS = 1_500;
const TRIES = 2;
/** A name that failed is not asked for again before. */
const FAILURE_MS = 5_000;
const MOST_FAILURES = 1_000;

/** These say that there is no such name. The next candidate may exist. */
const ABSENT: ReadonlySet<string> = new Set(['ENOTFOUND', 'ENODATA', 'EBADNAME']);

/** Why a name has no addresses. The code of a name server must not look like that of a receiver. */
class UnresolvedHost extends Error {
  readonly code: string;

  constructor(code: string) {
    super('The name could not be resolved.');
    this.code = ABSENT.has(code) ? 'ENOTFOUND' : `DNS_${code}`;
  }
}

/** The deliveries that wait for one name. There are never more lookups than deliveries under way. */
interface SharedLookup {
  readonly answer: Promise<readonly LookupAddress[]>;
  readonly resolver: dns.Resolver;
  waiters: number;
}

/**
 * Resolves names without the thread pool. `dns.lookup` holds a thread for as long as a name server keeps silent, and a
 * few such names would stop every other lookup of the process. Here a silent name server delays its own names only.
 */
export function hostResolver(given: HostResolverOptions = {}): Resolve {
  const { servers, timeoutMs: timeout = TIMEOUT_MS, clock = systemClock, ...paths } = given;
  const files = new HostFiles(paths, clock);
  const lookups = new Map<string, SharedLookup>();
  const failures = new Map<string, { error: UnresolvedHost; until: number }>();

  const remember = (host: string, error: UnresolvedHost) => {
    failures.delete(host);
    const [oldest] = failures.keys();
    if (oldest !== undefined && failures.size >= MOST_FAILURES) failures.delete(oldest);
    failures.set(host, { error, until: clock.monotonic() + FAILURE_MS });
  };

  const begin = (host: string, names: HostNames): SharedLookup => {
    // One for each lookup, because `cancel` ends every question of a resolver. It reads the name servers anew, too.
    const resolver = new dns.Resolver({ timeout, tries: TRIES });
    if (servers) resolver.setServers(servers);
    const answer = firstOf(resolver, candidatesOf(names, host)).catch((error: UnresolvedHost) => {
      // A lookup that was given up says nothing about the name.
      if (lookups.get(host) === lookup) remember(host, error);
      throw error;
    });
    const lookup: SharedLookup = { answer, resolver, waiters: 0 };
    lookups.set(host, lookup);
    return lookup;
  };

  return async (asked, signal) => {
    const host = asked.toLowerCase();
    const name = host.replace(/\.$/, '');
    const family = isIP(name);
    if (family !== 0) return [{ address: name, family }];
    const names = await files.names();
    const known = hostIn(names, name);
    if (known) return known;
    signal.throwIfAborted();
    const failure = failures.get(host);
    if (failure && clock.monotonic() < failure.until) throw failure.error;
    const lookup = lookups.get(host) ?? begin(host, names);
    lookup.waiters += 1;
    try {
      return await unlessAborted(lookup.answer, signal);
    } finally {
      lookup.waiters -= 1;
      if (lookup.waiters === 0) {
        if (lookups.get(host) === lookup) lookups.delete(host);
        lookup.resolver.cancel();
      }
    }
  };
}

/** The addresses of the first of these names that has some. */
async function firstOf(resolver: dns.Resolver, candidates: readonly string[]): Promise<LookupAddress[]> {
  let failure = 'ENOTFOUND';
  for (const name of candidates) {
    const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    const addresses = answers.flatMap((answer, at) =>
      answer.status === 'fulfilled' ? answer.value.map((address) => ({ address, family: at === 0 ? 4 : 6 })) : [],
    );
    if (addresses.length > 0) return addresses;
    const codes = answers.flatMap((answer) => (answer.status === 'rejected' ? codeOf(answer.reason) : []));
    failure = codes.find((code) => !ABSENT.has(code)) ?? failure;
    // A server that refuses to answer for one domain may answer for the next one. Silent servers would be waited for again.
    if (failure !== 'ENOTFOUND' && failure !== 'ESERVFAIL' && failure !== 'EREFUSED') break;
  }
  throw new UnresolvedHost(failure);
}

const codeOf = (error: unknown): string => String((error as { code?: unknown } | null)?.code);

async function unlessAborted<T>(answer: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([answer, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
