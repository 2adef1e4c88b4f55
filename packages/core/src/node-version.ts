import { WaybillError } from './errors.ts';

const NEEDED = [22, 13] as const;

/**
 * Called first by whatever opens, runs or serves something: an older Node lacks parts of the language that are only
 * missed in the middle of a job, and then nothing ends that job.
 */
export function checkNodeVersion(found: string | undefined = runningVersion()): void {
  // A browser has no Node at all, and needs none.
  if (found === undefined) return;
  const [major = 0, minor = 0] = found.split('.').map(Number);
  if (major > NEEDED[0] || (major === NEEDED[0] && minor >= NEEDED[1])) return;
  const needed = NEEDED.join('.');
  throw new WaybillError('unsupported', `Waybill needs Node.js ${needed} or newer, and this is ${found}.`, {
    details: { found, needed },
    hint: 'Install a current Node.js, or add one to the project: npm install --save-dev node@24, then npx node.',
  });
}

const runningVersion = (): string | undefined => (typeof process === 'undefined' ? undefined : process.versions?.node);
