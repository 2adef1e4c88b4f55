import { accessSync, constants, existsSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { fileOf, type SqliteAddress } from '../../connect/parse-address.ts';
import { refusalOf } from '../report.ts';
import { schemaVersion } from '../schema-version.ts';
import type { Check } from './check.ts';

const MIB = 1024 * 1024;
const LOW_BYTES = 1024 * MIB;
const FULL_BYTES = 100 * MIB;

/** SQLite writes its log beside the file, so the folder counts as much. */
export function checkFile(file: string): Check {
  const name = 'file';
  const folder = nearestFolder(file);
  const locked = [...(existsSync(file) ? [file] : []), folder].find((path) => !isWritable(path));
  if (locked !== undefined) {
    return {
      name,
      status: 'fail',
      message: `${locked} cannot be written to`,
      hint: 'Check its owner and permissions.',
    };
  }
  if (existsSync(file)) return { name, status: 'ok', message: `${resolve(file)} can be written to` };
  return { name, status: 'warn', message: `${resolve(file)} does not exist`, hint: '`waybill migrate` makes it.' };
}

export async function checkSpace(file: string): Promise<Check> {
  const name = 'disk';
  const { bavail, bsize } = await statfs(nearestFolder(file));
  const free = bavail * bsize;
  const message = `${Math.floor(free / MIB)} MiB free`;
  if (free < FULL_BYTES) return { name, status: 'fail', message, hint: 'A full disk refuses every job: make room.' };
  return free < LOW_BYTES ? { name, status: 'warn', message, hint: 'Make room.' } : { name, status: 'ok', message };
}

export async function checkSchema(store: SqliteAddress): Promise<Check> {
  const name = 'schema';
  try {
    return { name, status: 'ok', message: `version ${await schemaVersion(store)}` };
  } catch (error) {
    return { name, status: 'warn', message: `its version cannot be read: ${refusalOf(error).message}` };
  }
}

export function checkDurability(store: SqliteAddress): Check {
  const name = 'durability';
  if (fileOf(store) === null) {
    return { name, status: 'warn', message: 'in memory: every job is lost when the process ends' };
  }
  if (store.durability === 'full')
    return { name, status: 'ok', message: 'full: what was answered survives a power cut' };
  return { name, status: 'warn', message: 'normal: the last moments before a power cut may be lost' };
}

function nearestFolder(file: string): string {
  let folder = dirname(resolve(file));
  while (!existsSync(folder)) folder = dirname(folder);
  return folder;
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK | constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
