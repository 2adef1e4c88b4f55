export interface PromptInputOptions {
  /** Characters that are kept of one value. @defaultValue 100_000 */
  maxLength?: number;
}

const MAX_LENGTH = 100_000;

/** Handlers of HTML. A list, because text such as `only = 3` begins with "on" too. */
const EVENTS = [
  ...['abort', 'animation\\w{0,10}', 'auxclick', 'before\\w{1,12}', 'blur', 'cancel', 'canplay\\w{0,10}', 'change'],
  ...['click', 'close', 'contextmenu', 'copy', 'cut', 'dblclick', 'drag\\w{0,6}', 'drop', 'error', 'focus\\w{0,4}'],
  ...['hashchange', 'input', 'invalid', 'key(?:down|press|up)', 'load\\w{0,10}', 'message\\w{0,5}', 'mouse\\w{1,6}'],
  ...['page(?:hide|show)', 'paste', 'pointer\\w{1,8}', 'popstate', 'progress', 'reset', 'resize', 'scroll\\w{0,4}'],
  ...[
    'search',
    'select\\w{0,8}',
    'storage',
    'submit',
    'toggle',
    'touch\\w{1,6}',
    'transition\\w{0,8}',
    'unload',
    'wheel',
  ],
].join('|');
const HANDLER = new RegExp(`(?<![\\w-])on(?:${EVENTS})\\s{0,9}=\\s{0,9}`, 'gi');

/** `javascript:` also with white space inside, which browsers ignore. */
const SCRIPT_URL = new RegExp(`((?:${spaced('java')}|${spaced('vb')})\\s{0,9}${spaced('script')})\\s{0,9}:`, 'gi');

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const CONTROLS = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g;
/** Characters that no reader sees: turned directions, invisible joiners of words, and tags, which can hide whole sentences. */
const INVISIBLE = /[\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]|[\u{e0000}-\u{e007f}]/gu;

/** Removing one thing may put the parts of another one together; each round makes the text shorter or changes nothing. */
const MAX_ROUNDS = 20;

/**
 * A text of a caller, fit to stand in a prompt: without script tags, script addresses, event handlers and characters that
 * no reader sees, with template braces taken apart, and not longer than allowed. The rest is as it was.
 */
export function sanitizePromptInput(text: string, { maxLength = MAX_LENGTH }: PromptInputOptions = {}): string {
  let clean = cut(text.toWellFormed().replace(/\r\n?/g, '\n'), maxLength);
  clean = clean.replace(CONTROLS, '').replace(INVISIBLE, '');
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const before = clean;
    clean = withoutScripts(clean).replace(HANDLER, '').replace(SCRIPT_URL, '$1 :');
    if (clean === before) return apart(clean);
  }
  // A text that still changes was made to get past the rules: without these, none of them can match.
  return apart(clean.replace(/[<=:]/g, ' '));
}

/** The same for a value of any kind: texts inside of it are sanitized, and it is written as JSON. */
export function promptValue(value: unknown, options: PromptInputOptions = {}): string {
  if (typeof value === 'string') return sanitizePromptInput(value, options);
  if (typeof value !== 'object' || value === null) return String(value);
  return sanitizePromptInput(JSON.stringify(value, null, 2) ?? '', options);
}

/** `{{` would be a placeholder of whoever puts this text into a further template. Apart, JSON stays the JSON it was. */
const apart = (text: string): string =>
  text
    .replace(/\{(?=[{%])/g, '{ ')
    .replace(/\}(?=\})/g, '} ')
    .replace(/%(?=\})/g, '% ');

function cut(text: string, max: number): string {
  if (text.length <= max) return text;
  const kept = text
    .slice(0, max)
    .toWellFormed()
    .replace(/\ufffd$/, '');
  return `${kept}\n[${text.length - kept.length} more characters were cut]`;
}

const SCRIPT_TAG = /<\s{0,9}(\/?)\s{0,9}script\b[^>]{0,2000}>?/gi;

/** Removes script elements with their content, and script tags that have no partner. Reads the text once. */
function withoutScripts(text: string): string {
  let kept = '';
  let from = 0;
  let opened: number | null = null;
  for (const tag of text.matchAll(SCRIPT_TAG)) {
    const isEnd = tag[1] === '/';
    if (opened === null) {
      kept += text.slice(from, tag.index);
      if (!isEnd) opened = tag.index + tag[0].length;
    } else if (isEnd) opened = null;
    from = tag.index + tag[0].length;
  }
  // A script that never ends loses its tag only.
  return kept + text.slice(opened ?? from);
}

function spaced(word: string): string {
  return [...word].join('\\s{0,9}');
}
