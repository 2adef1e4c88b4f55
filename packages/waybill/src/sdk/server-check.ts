import { isObject, type Logger, stderrLogger, type Waybill } from '@waybill/core';
import { shownAddress } from '../connect/shown-address.ts';
import type { ConnectOptions } from './connect-options.ts';

/** A server that has not answered by then is reported. */
const SILENT_MS = 1_000;
/** What a slow server answers until then is still reported. */
const ASKED_MS = 30_000;
const CHECK_ADDRESS = 'Check the address, and that the server runs there.';

/**
 * The port of a server, which is asked once whether it is there. A server that is away is told of by the log: a worker or
 * a web application may well start before its server does, and goes on when that answers.
 */
export function checkedServer(port: Waybill, url: string, options: ConnectOptions): Waybill {
  const { logger = stderrLogger, key } = options;
  const headers = { ...options.headers, ...(key !== undefined && { Authorization: `Bearer ${key}` }) };
  const closing = new AbortController();
  if (/^grpc/i.test(url)) return checkedRpc(port, shownAddress(url), logger);
  const { origin, pathname } = new URL(url);
  const server = origin + pathname.replace(/\/+$/, '');
  const report = new Report(server, logger);
  const signal = AbortSignal.any([closing.signal, AbortSignal.timeout(ASKED_MS)]);
  fetch(`${server}/health`, { signal, headers, redirect: 'manual' })
    .then(async (answer) => {
      const body = await bodyOf(answer);
      if (isHealth(body, answer.headers)) return;
      const { status } = answer;
      const isPage = answer.ok || status === 404;
      const what = isPage ? 'answers, but it is no Waybill server' : `answers with status ${status}. Calls are refused`;
      report.answer(what, { status, hint: adviceFor(status) });
    })
    .catch(async (error: unknown) => {
      const { noAnswer } = await import('@waybill/client/http');
      report.failure('could not be reached', noAnswer(server, error).hint, codeOf(error));
    })
    .finally(() => report.end());
  return {
    ...port,
    close: () => {
      report.end();
      closing.abort();
      return port.close();
    },
  };
}

/** By the protocol's own question for the health. It is repeated for longer than is waited for here. */
function checkedRpc(port: Waybill, server: string, logger: Logger): Waybill {
  const report = new Report(server, logger);
  port
    .health()
    .catch((error: { code?: unknown; hint?: string }) => {
      if (error.code === 'unauthenticated') report.failure('refuses the key', adviceFor(401));
      else report.failure('could not be reached', error.hint);
    })
    .finally(() => report.end());
  return {
    ...port,
    close: () => {
      report.end();
      return port.close();
    },
  };
}

/** Warns of what is wrong with a server: of its silence in time, and of what a slow server answers at last. */
class Report {
  readonly #server: string;
  readonly #logger: Logger;
  readonly #silence: NodeJS.Timeout;
  #wasSilent = false;
  #isOver = false;

  constructor(server: string, logger: Logger) {
    this.#server = server;
    this.#logger = logger;
    this.#silence = setTimeout(() => {
      this.failure(`has not answered within ${SILENT_MS} ms`);
      this.#wasSilent = true;
    }, SILENT_MS);
  }

  /** Nothing is added to a silence that was reported but what tells more than it did. */
  failure(why: string, hint?: string, cause?: unknown): void {
    if (this.#wasSilent && hint === undefined) return;
    this.answer(`${why}. Calls fail until it answers`, {
      hint: hint ?? CHECK_ADDRESS,
      ...(cause !== undefined && { cause }),
    });
  }

  answer(what: string, facts: object): void {
    if (!this.#isOver) this.#logger.warn(facts, `The server ${this.#server} ${what}.`);
  }

  end(): void {
    this.#isOver = true;
    clearTimeout(this.#silence);
  }
}

/** What the system says, such as ECONNREFUSED; fetch hides it in the cause. */
function codeOf(error: unknown): unknown {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && 'code' in cause ? cause.code : undefined;
}

/** Undefined where it is no JSON. What breaks off counts as no answer. */
async function bodyOf(answer: Response): Promise<unknown> {
  const text = await answer.text();
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Also of a server whose store is away: it says so with another status, and its calls say why. A server that asks for keys
 * tells strangers nothing but its status, and the version of the specification in a header.
 */
const isHealth = (body: unknown, headers: Headers): boolean =>
  isObject(body) && typeof body['status'] === 'string' && (isObject(body['backend']) || headers.has('ojs-version'));

function adviceFor(status: number): string {
  if (status === 401 || status === 403 || status === 407)
    return "Send what it asks for: an API key in the option 'key', what a proxy wants in the option 'headers'.";
  if (status >= 300 && status < 400) return 'Check the port and the path in the address. Redirects are not followed.';
  if (status >= 500) return 'Check that a Waybill server runs behind what answers at this address.';
  return 'Check the port and the path in the address.';
}
