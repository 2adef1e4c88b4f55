// Installs the Claude Agent SDK in packages/agent/real, which has a lockfile of its own for it, where it is missing or
// another version.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

export const SDK = '@anthropic-ai/claude-agent-sdk';
export const folder = path.resolve(import.meta.dirname, '../packages/agent/real');

/** The folder of the package. */
export const installed = path.join(folder, 'node_modules', SDK);

const manifest = (file) => JSON.parse(readFileSync(file, 'utf8'));

/** Runs a command, and ends this process as it ended where it failed. */
export function run(command, args, cwd = process.cwd()) {
  const { status, error } = spawnSync(command, args, { cwd, stdio: 'inherit', shell: process.platform === 'win32' });
  if (error) console.error(`${command} could not be started: ${error.message}`);
  if (status !== 0) process.exit(status ?? 1);
}

export function installSdk() {
  const wanted = manifest(path.join(folder, 'package.json')).dependencies[SDK];
  const present = path.join(installed, 'package.json');
  if (existsSync(present) && manifest(present).version === wanted) return;
  console.log(`Installing ${SDK} ${wanted} (414 MB) in ${path.relative('.', folder)}.`);
  run('npm', ['ci'], folder);
}
