// Guards of the configuration file: what beats it, and what of it is never shown.
const config = (file) => `packages/waybill/src/config/${file}`;

export const CONFIG_MUTANTS = [
  {
    name: 'file-beats-the-environment',
    guard: 'compare: the environment beats the configuration file',
    file: config('apply-config.ts'),
    replace: 'return { ...config.env, ...Object.fromEntries(set) };',
    by: 'return { ...Object.fromEntries(set), ...config.env };',
    test: config('apply-config.test.ts'),
    title: 'the environment beats the file',
  },
  {
    name: 'secret-setting-shown',
    guard: 'fence: config show masks secrets',
    file: config('effective-settings.ts'),
    replace: 'if (secret) return MASK;',
    by: '',
    test: config('secrets.test.ts'),
    title: 'is never shown, whatever is wrong with it',
  },
  {
    name: 'value-of-a-variable-quoted',
    guard: 'fence: an error does not show what a variable holds',
    file: config('check-config.ts'),
    replace: 'if (from !== undefined) return',
    by: 'if (from === null) return',
    test: config('check-config.test.ts'),
    title: 'a value that came from a variable is not shown',
  },
  {
    name: 'first-of-two-config-files',
    guard: 'bound: two configuration files at once are refused',
    file: config('find-config.ts'),
    replace: 'if (here.length > 1) {',
    by: 'if (here.length > 2) {',
    test: config('load-config.test.ts'),
    title: 'two files at once are refused',
  },
];
