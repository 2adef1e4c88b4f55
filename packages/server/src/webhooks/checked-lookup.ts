import type { LookupFunction } from 'node:net';
import type { Resolve } from './host-resolver.ts';
import { isPublicAddress, type TargetPolicy } from './target.ts';

/** The name has no address that a webhook may have. The code stands where those of the resolver stand. */
class PrivateTarget extends Error {
  readonly code = 'PRIVATE_ADDRESS';
}

/**
 * The lookup of one connection. It hands public addresses only to the connection, unless the policy allows all of them.
 * So the address that was checked is the one that is connected to, whatever the name resolves to a moment later.
 */
export const checkedLookup =
  (resolve: Resolve, { allowPrivate }: TargetPolicy, signal: AbortSignal): LookupFunction =>
  (host, { all, family }, done) => {
    const checked = async () => {
      const addresses = await resolve(host, signal);
      const wanted = family === 4 || family === 6 ? addresses.filter((one) => one.family === family) : addresses;
      const allowed = allowPrivate ? wanted : wanted.filter(({ address }) => isPublicAddress(address));
      if (allowed.length === 0) throw new PrivateTarget('No public address.');
      return allowed;
    };
    checked().then(
      (allowed) => (all ? done(null, [...allowed]) : done(null, allowed[0]!.address, allowed[0]!.family)),
      (error: Error) => done(error, '', 0),
    );
  };
