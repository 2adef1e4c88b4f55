import type { ConfigKey } from '../config-key.ts';
import { KEYS } from '../keys.ts';
import type { Kind } from '../kinds.ts';

const HEADER = `// Made of the table of keys, see config/define-config.test.ts. After a change of the table:
// npx vitest run --project together packages/waybill/src/config/define-config.test.ts --update

/** A text with a variable of the environment in it, such as \`\${PORT:-8080}\`. */
export type Reference = \`\${string}\\\${\${string}}\${string}\`;
/** Such as \`30s\`, \`5m\`, \`2h\` or \`PT5M\`. */
export type Span = \`\${number}\${'ms' | 's' | 'm' | 'h' | 'd'}\` | \`P\${string}\` | Reference;
/** Days, or a span. */
export type Days = number | \`\${number}\` | Span;
export type Numeric = number | \`\${number}\` | Reference;
export type Switch = boolean | 'true' | 'false' | Reference;
/** Texts, or one text in which commas separate them. */
export type Texts = readonly string[] | string;
`;

interface Section {
  name: string;
  key?: ConfigKey;
  children: Map<string, Section>;
}

/** The module that declares the types of a configuration file. */
export function configTypes(): string {
  const root: Section = { name: 'WaybillConfig', children: new Map() };
  for (const key of KEYS) {
    let section = root;
    for (const part of key.path.split('.')) {
      const name = part === '*' ? section.name.replace('Config', 'ItemConfig') : nameOf(section, part);
      const next: Section = section.children.get(part) ?? { name, children: new Map() };
      section.children.set(part, next);
      section = next;
    }
    section.key = key;
  }
  return `${HEADER}${declarationsOf(root).join('')}`;
}

function nameOf({ name }: Section, part: string): string {
  const word = part.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
  return `${name === 'WaybillConfig' ? '' : name.replace('Config', '')}${word}Config`;
}

/** An interface for each section that has names of its own; those of queues stand where they are used. */
function declarationsOf(section: Section): string[] {
  const named = [...section.children].filter(([part]) => part !== '*');
  const lines = named.flatMap(([part, child]) => {
    const key = child.key ?? child.children.get('*')?.key;
    return [...(key === undefined ? [] : [`  /** ${docOf(key)} */\n`]), `${property(part, child)}\n`];
  });
  const own = named.length === 0 ? [] : [`\nexport interface ${section.name} {\n${lines.join('')}}\n`];
  return [...own, ...[...section.children.values()].flatMap(declarationsOf)];
}

const LINE = 120;

function property(part: string, section: Section): string {
  const types = typesOf(section);
  const line = `  ${part}?: ${types.join(' | ')};`;
  return line.length <= LINE ? line : `  ${part}?:\n${types.map((type) => `    | ${type}`).join('\n')};`;
}

function typesOf({ name, key, children }: Section): string[] {
  const own = key === undefined ? [] : typesOfKind(key.kind);
  const item = children.get('*');
  if (item !== undefined) return [...own, `Readonly<Record<string, ${typesOf(item).join(' | ')}>>`];
  return children.size === 0 ? own : [...own, name];
}

function typesOfKind(kind: Kind): string[] {
  switch (kind.is) {
    case 'text':
    case 'address':
      return ['string'];
    case 'whole':
    case 'ratio':
      return ['Numeric'];
    case 'switch':
      return ['Switch'];
    case 'list':
      return ['Texts'];
    case 'span':
      return [kind.bare === 'days' ? 'Days' : 'Span'];
    case 'choice':
      return [...kind.of.map((one) => `'${one}'`), 'Reference'];
  }
}

const docOf = ({ about, default: fallback }: ConfigKey): string =>
  `${about[0]!.toUpperCase()}${about.slice(1)}.${fallback === undefined ? '' : ` @defaultValue ${fallback}`}`;
