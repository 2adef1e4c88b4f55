import { RemoteError } from './remote-error.ts';
import { join } from './waiting.ts';

export type Fetch = (url: string, init: RequestInit) => Response | Promise<Response>;

interface Bounds {
  timeoutMs: number;
  closing: AbortSignal;
}

/**
 * JSON from an address outside of the server. None of our headers goes there, and nothing tells the address: it is a
 * secret.
 */
export async function download<T>(url: string, fetch: Fetch, { timeoutMs, closing }: Bounds): Promise<T> {
  const late = join(AbortSignal.timeout(timeoutMs), closing);
  try {
    const response = await fetch(url, { method: 'GET', headers: {}, signal: late.signal });
    if (response.ok) return JSON.parse(await response.text()) as T;
  } catch {
    // The reason may quote the address.
  } finally {
    late.leave();
  }
  const message = 'A large payload could not be fetched from the address that the server told.';
  const hint = 'Read the job again: addresses are good for minutes.';
  throw new RemoteError({ code: 'unavailable', message, hint });
}
