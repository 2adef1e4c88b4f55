import { type Clock, isSamePrincipal, WaybillError } from '@waybill/core';
import type { Ctx } from '../http/env.ts';
import type { Standing } from '../http/standing.ts';
import type { Identified } from './identified.ts';
import type { Identifier } from './identify.ts';

/** How often a caller with an open stream or a long poll is asked about again. */
export const LOOK_AGAIN_EVERY_MS = 2_000;

export function standingOf(c: Ctx, caller: Identified, identifier: Identifier, clock: Clock): Standing {
  const counts = async (): Promise<boolean> => {
    if (caller.expiresAt !== null && caller.expiresAt <= clock.now()) return false;
    // A token counts until it expires, and the user's own hook is asked once for each request.
    if (caller.by === 'jwt' || caller.by === 'own') return true;
    try {
      // A stream was opened with the rights of then: with others it has to be opened anew.
      return isSamePrincipal((await identifier.of(c)).principal, caller.principal);
    } catch (error) {
      // A store that is away says nothing about the key.
      return WaybillError.from(error).code !== 'unauthenticated';
    }
  };
  return {
    counts,
    watch: (onEnd) => {
      const over = new AbortController();
      const look = async () => {
        while (!over.signal.aborted) {
          await clock.sleep(LOOK_AGAIN_EVERY_MS, over.signal);
          if (over.signal.aborted || (await counts())) continue;
          if (!over.signal.aborted) onEnd();
          return;
        }
      };
      void look();
      return () => over.abort();
    },
  };
}
