import type { LookupFunction } from 'node:net';
import type { Resolve } from './host-resolver.ts';
import { mayGoTo, type TargetPolicy } from './target.ts';

/** The name has no address that a webhook may have. The code stands where those of the resolver stand. */
class RefusedTarget extends Error {
  readonly code: 'PRIVATE_ADDRESS' | 'PLAIN_HTTP';

  constructor({ protocol }: Pick<URL, 'protocol'>) {
    super('The name has no address that is allowed.');
    this.code = protocol === 'http:' ? 'PLAIN_HTTP' : 'PRIVATE_ADDRESS';
  }
}

/**
 * The lookup of one connection. It hands only those addresses to the connection that the policy allows for the URL. So the address that was checked is the one that is connected to, whatever the name resolves to a moment later.
 */
export const checkedLookup =
  (resolve: Resolve, url: Pick<URL, 'protocol'>, policy: TargetPolicy, signal: AbortSignal): LookupFunction =>
  (host, { all, family }, done) => {
    const checked = async () => {
      const addresses = await resolve(host, signal);
      const wanted = family === 4 || family === 6 ? addresses.filter((one) => one.family === family) : addresses;
      const allowed = wanted.filter(({ address }) => mayGoTo(address, url, policy));
      if (allowed.length === 0) throw new RefusedTarget(url);
      return allowed;
    };
    checked().then(
      (allowed) => (all ? done(null, [...allowed]) : done(null, allowed[0]!.address, allowed[0]!.family)),
      (error: Error) => done(error, '', 0),
    );
  };
