import { engine, type Principal, type Scope, type Store, silentLogger, type Waybill } from '@waybill/core';
import { createApp, webhookService } from '@waybill/server';
import { foreignMarks, type Scoping } from './cells.ts';
import type { Asked } from './route.ts';
import { framed, STREAM_MS, unframed } from './rpc-routes.ts';

/** Who sends requests, by a real key. */
export interface Sender extends Scoping {
  name: string;
  secret: string;
  scopes: readonly Scope[];
  /** An operator names the tenant by the header. */
  isOperator: boolean;
}

export interface Answer {
  status: number;
  text: string;
  code: string | undefined;
}

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g;

/** A server with keys on a store, and what its senders are shown. */
export class Walker {
  readonly waybill: Waybill;
  readonly app: ReturnType<typeof createApp>;

  constructor(store: Store) {
    this.waybill = engine({ store, maintenance: false, logger: silentLogger });
    const parts = { waybill: this.waybill, version: '0.0.0-test', logger: silentLogger };
    this.app = createApp({
      ...parts,
      auth: { keys: true },
      // Not started: it does what the routes ask for, and delivers nothing by itself.
      webhooks: webhookService({ ...parts, allowPrivate: true }),
      metrics: async () => '# what a server counts',
    });
  }

  async sender(over: Omit<Principal, 'id'>, as = over.tenant): Promise<Sender> {
    const { tenant, scopes, queues, types } = over;
    const narrow = { ...(queues && { queues }), ...(types && { types }) };
    const { secret } = await this.waybill.keys!.create({ name: 'walker', scopes, ...narrow }, { tenant });
    const name = `${tenant} as ${as}: ${scopes} ${JSON.stringify(narrow)}`;
    return { name, secret, scopes, tenant: as, isOperator: tenant === '*', ...narrow };
  }

  /** `header`: the tenant that the request names, instead of what the sender would. */
  async send(sender: Sender, route: string, { path, body, isStream }: Asked, header?: string): Promise<Answer> {
    const named = header ?? (sender.isOperator ? sender.tenant : undefined);
    const [method] = route.split(' ');
    const type = isStream ? 'application/connect+json' : 'application/json';
    const response = await this.app.request(path, {
      method: method === 'ALL' ? 'POST' : method!,
      headers: {
        'x-api-key': sender.secret,
        ...(named !== undefined && { 'X-OJS-Tenant': named }),
        ...(body !== undefined && { 'Content-Type': type }),
        ...(isStream && { 'Connect-Timeout-Ms': String(STREAM_MS) }),
      },
      ...(body !== undefined && { body: isStream ? framed(body) : JSON.stringify(body) }),
    });
    if (isStream && response.headers.get('content-type') === type) {
      const answer = unframed(Buffer.from(await response.arrayBuffer()));
      return { ...answer, code: codeIn(answer.text) };
    }
    const text = await textOf(response);
    return { status: response.status, text, code: codeIn(text) };
  }
}

/** Over RPC the words of the protocol stand in the place of ours. */
function codeIn(text: string): string | undefined {
  const [, code] = /\{"(?:error":\{")?code":"(\w+)"/.exec(text) ?? [];
  return code === 'permission_denied' ? 'forbidden' : code;
}

export const hasScope = ({ scopes }: Sender, scope: Scope): boolean =>
  scopes.includes(scope) || scopes.includes('admin');

/** Where an event tells whose it is. */
const SOURCE = /ojs:\/\/waybill\/tenants\/(\w+)\//g;
/** In the audit stands what callers of the tenant have asked about, be it another one's. */
const AUDITED_TARGET = /"target":"[^"]*"/g;

/** What an answer shows that its reader should not see. What the request itself named may come back. */
export function leaksIn(text: string, asked: Asked, sender: Sender, foreignIds: ReadonlySet<string>): string[] {
  const sent = JSON.stringify(asked);
  const shown = text.replace(AUDITED_TARGET, '');
  const found = [
    ...foreignMarks(shown, sender),
    ...(shown.match(UUID) ?? []).filter((id) => foreignIds.has(id)),
    ...[...shown.matchAll(SOURCE)].filter(([, tenant]) => tenant !== sender.tenant).map(([source]) => source),
  ];
  return [...new Set(found)].filter((one) => !sent.includes(one));
}

/** A refusal without what differs between two requests. */
export const alike = (text: string, { path, body, names: named = '' }: Asked): string => {
  const names = [...`${path} ${named} ${JSON.stringify(body) ?? ''}`.matchAll(/[\w.:-]{6,}/g)].map(([name]) => name);
  // Over RPC the details stand there a second time, in protobuf.
  const bare = text.replace(/"request_?[iI]d":"[^"]*"/, '').replace(/"value":"[^"]*"/, '');
  return names.sort((a, b) => b.length - a.length).reduce((left, name) => left.replaceAll(name, '-'), bare);
};

/** Of a stream that goes on as long as its reader does, the begin. */
async function textOf(response: Response): Promise<string> {
  if (response.headers.get('content-type') !== 'text/event-stream') return response.text();
  const reader = response.body!.getReader();
  const { value } = await reader.read();
  await reader.cancel();
  return new TextDecoder().decode(value);
}
