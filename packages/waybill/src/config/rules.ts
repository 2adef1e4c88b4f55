import type { Found } from './check-config.ts';
import { OWN_KEYS } from './keys.ts';

/** What beats the file. */
interface Given {
  env: Readonly<Record<string, string | undefined>>;
  flags: Readonly<Record<string, unknown>>;
}

/** Both at once would leave open which one counts. */
const EXCLUSIVE = [
  ['server.keys', 'server.keysFile'],
  ['server.tokenSecret', 'server.tokenSecretFile'],
  ['server.auth', 'server.noAuth'],
  ['server.noAuth', 'server.keys'],
  ['server.noAuth', 'server.keysFile'],
  ['server.noAuth', 'server.jwt.issuer'],
] as const;

/** What is of no use without the others; those may also come from the environment or from flags. */
const TOGETHER = [
  ['server.tls.cert', 'server.tls.key'],
  ['worker.program.command', 'worker.program.type'],
  ['server.jwt.issuer', 'server.jwt.audience', 'server.jwt.jwks'],
] as const;

/** What must not be longer than something else. */
const ORDERED = [
  ['worker.heartbeat', 'worker.lease', 20_000, 30_000],
  ['sqs.timeouts.request', 'sqs.timeouts.call', 4_000, 10_000],
  ['dynamodb.timeouts.request', 'dynamodb.timeouts.call', 4_000, 10_000],
  ['health.jobs.warning', 'health.jobs.critical', 300_000, 600_000],
  ['health.queueAge.warning', 'health.queueAge.critical', 300_000, 1_800_000],
  ['health.lateCrons.warning', 'health.lateCrons.critical', 60_000, 600_000],
  ['health.sinkLag.warning', 'health.sinkLag.critical', 300_000, 3_600_000],
  ['health.sweepLag.warning', 'health.sweepLag.critical', 30_000, 300_000],
  ['health.clockSkew.warning', 'health.clockSkew.critical', 5_000, 60_000],
] as const;

/** What is wrong between keys that are right by themselves. */
export function brokenRules(found: readonly Found[], file: string, given: Given): string[] {
  const at = (path: string): Found | undefined => found.find((one) => one.path === path);
  const isOn = (path: string): boolean => at(path) !== undefined && at(path)?.value !== false;
  const isGiven = (path: string): boolean => {
    const { env = '', flag = '' } = OWN_KEYS.find((key) => key.path === path)!;
    return at(path) !== undefined || Boolean(given.env[env]) || given.flags[flag] !== undefined;
  };
  const exclusive = EXCLUSIVE.filter(([one, other]) => isOn(one) && isOn(other)).map(
    ([one, other]) => `'${one}' and '${other}' in ${file} exclude each other. Keep one of them.`,
  );
  const together = TOGETHER.flatMap((paths) => {
    if (!paths.some((path) => at(path))) return [];
    const missing = paths.filter((path) => !isGiven(path));
    return missing.map((path) => `'${path}' is missing in ${file}, because ${quoted(paths)} belong together.`);
  });
  const ordered = ORDERED.flatMap(([less, more, lessMs, moreMs]) => {
    if (!at(less) && !at(more)) return [];
    const [low, high] = [Number(at(less)?.value ?? lessMs), Number(at(more)?.value ?? moreMs)];
    // A heartbeat must come before the lease ends; a call may be one request.
    const [isBroken, rule] =
      less === 'worker.heartbeat' ? [low >= high, 'be less than'] : [low > high, 'not be longer than'];
    return isBroken ? [`'${less}' in ${file} must ${rule} '${more}', and is ${low} ms of ${high} ms.`] : [];
  });
  const lacksTrust =
    at('server.proxies') && !isOn('server.trustProxy') && !(isGiven('server.trustProxy') && !at('server.trustProxy'));
  const proxies = lacksTrust ? [`'server.proxies' in ${file} needs 'server.trustProxy: true'.`] : [];
  return [...exclusive, ...together, ...ordered, ...proxies, ...brokenAddresses(found, file)];
}

/** A store or transport is either an address, or named by the keys of its section. */
function brokenAddresses(found: readonly Found[], file: string): string[] {
  const at = (path: string): Found | undefined => found.find((one) => one.path === path);
  const twice = found.flatMap(({ key: { partOf }, path }) => {
    const whole = partOf === undefined ? undefined : at(partOf);
    // Any other transport than SQS leaves its section without effect: one file may serve both.
    if (whole === undefined || (partOf === 'transport' && !/^sqs:/i.test(String(whole.value)))) return [];
    return [`'${partOf}' and '${path}' in ${file} say the same. Keep the address or the section.`];
  });
  const hasTable = at('dynamodb.table') ?? at('store');
  const lonely = found.find(({ key }) => key.partOf === 'store');
  if (hasTable || lonely === undefined) return twice;
  return [...twice, `'dynamodb.table' is missing in ${file}, because '${lonely.path}' needs it.`];
}

const quoted = (paths: readonly string[]): string =>
  `${paths.slice(0, -1).join(', ')} and ${paths.at(-1)}`.replaceAll(/[\w.]+\.[\w.]+/g, "'$&'");
