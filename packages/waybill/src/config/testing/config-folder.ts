import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import { type Config, loadConfig } from '../load-config.ts';

/** A folder with these files, for one test. */
export function configFolder(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'waybill-config-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) writeFileSync(path.join(folder, name), text);
  return folder;
}

/** What a file with this YAML comes to. */
export async function configOf(yaml: string, env: Record<string, string> = {}): Promise<Config> {
  return (await loadConfig({ env, folder: configFolder({ 'waybill.config.yaml': yaml }) }))!;
}

/** What is said of a file with this YAML. */
export const refusalOf = async (yaml: string, env: Record<string, string> = {}): Promise<string> =>
  configOf(yaml, env).then(
    () => 'nothing',
    (error: Error) => error.message,
  );
