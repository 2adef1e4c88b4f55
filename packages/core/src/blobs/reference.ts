import { createHash } from 'node:crypto';
import { isObject } from '../check.ts';
import type { Json, JsonObject } from '../json.ts';
import type { JobKey } from '../store/query.ts';

/** Stands in a row for a payload that is kept elsewhere. */
export interface BlobReference {
  /**
   * Within the folder of the job that it belongs to, so that nothing in a row can ever lead to another job's payload.
   * It has a hash of the content in it: written twice it is the same blob, and no rival can write over it.
   */
  name: string;
  bytes: number;
}

const OURS = '$waybill:';
const BLOB = `${OURS}blob`;
const PLAIN = `${OURS}plain`;

const NAME = /^[a-z]+-[0-9a-f]{32}$/;

export const nameOf = (field: string, body: Uint8Array): string =>
  `${field}-${createHash('sha256').update(body).digest('hex').slice(0, 32)}`;

/** Where the blobs of a job stand. The nameless tenant, which most systems have alone, leaves no mark. */
export const folderOf = ({ tenant, id }: JobKey): string =>
  `jobs/${id}${tenant === '' ? '' : `.${Buffer.from(tenant).toString('hex')}`}/`;

const FOLDER = /^jobs\/([^./]+)(?:\.([0-9a-f]+))?\//;

/** Whose blob a key names; null: nobody's. */
export function ownerOf(key: string): JobKey | null {
  const [, id, tenant = ''] = FOLDER.exec(key) ?? [];
  return id === undefined ? null : { tenant: Buffer.from(tenant, 'hex').toString(), id };
}

/** What only we write: an object with a single key that begins with our mark. */
const markOf = (value: Json): string | undefined => {
  if (!isObject(value)) return undefined;
  const [key, ...others] = Object.keys(value);
  return key?.startsWith(OURS) && others.length === 0 ? key : undefined;
};

export const isMark = (value: Json): boolean => markOf(value) !== undefined;

export const referenceTo = ({ name, bytes }: BlobReference): JsonObject => ({ [BLOB]: { name, bytes } });

export function readReference(value: Json): BlobReference | null {
  if (markOf(value) !== BLOB) return null;
  const { name, bytes } = ((value as JsonObject)[BLOB] ?? {}) as Record<string, Json>;
  return typeof name === 'string' && NAME.test(name) && typeof bytes === 'number' ? { name, bytes } : null;
}

/** A payload that looks like one of our marks is wrapped in another, so that it comes out as it went in. */
export const escaped = (value: Json): Json => (isMark(value) ? { [PLAIN]: value } : value);

export const unescaped = (value: Json): Json => (markOf(value) === PLAIN ? (value as JsonObject)[PLAIN]! : value);
