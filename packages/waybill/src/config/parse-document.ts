import type { WaybillError } from '@waybill/core';
import type { Document, LineCounter } from 'yaml';

export interface ParsedDocument {
  value: unknown;
  /** The line on which this part of the document begins, or the nearest part around it that is there. */
  lineOf(path: readonly (string | number)[]): number;
}

/** Makes the refusal of a file that cannot be read. No message quotes the file, because it may hold secrets. */
type Refused = (message: string) => WaybillError;

/** Loads the parser, so that only files of this kind pay for it. */
export async function parseYaml(source: string, name: string, refused: Refused): Promise<ParsedDocument> {
  const { LineCounter, parseDocument, isMap, isNode, isScalar } = await import('yaml');
  const lineCounter = new LineCounter();
  const document = parseDocument(source, { lineCounter, prettyErrors: false, logLevel: 'error' });
  const [error] = [...document.errors, ...document.warnings];
  if (error !== undefined) {
    const { line, col } = lineCounter.linePos(error.pos[0]);
    const why = error.code.toLowerCase().replaceAll('_', ' ');
    throw refused(`${name} is not valid YAML at line ${line}, column ${col}: ${why}.`);
  }
  const value = plainValue(document, name, refused);
  const startOf = (path: readonly (string | number)[]): number | undefined => {
    const around = path.length === 0 ? undefined : document.getIn(path.slice(0, -1), true);
    const pair = isMap(around) && around.items.find(({ key }) => isScalar(key) && key.value === path.at(-1));
    if (pair && isScalar(pair.key)) return pair.key.range?.[0];
    const node = path.length === 0 ? document.contents : document.getIn(path, true);
    return isNode(node) ? node.range?.[0] : undefined;
  };
  return { value, lineOf: (path) => lineIn(lineCounter, path, startOf) };
}

function lineIn(
  lineCounter: LineCounter,
  path: readonly (string | number)[],
  startOf: (path: readonly (string | number)[]) => number | undefined,
): number {
  for (let length = path.length; length >= 0; length -= 1) {
    const start = startOf(path.slice(0, length));
    if (start !== undefined) return lineCounter.linePos(start).line;
  }
  return 1;
}

function plainValue(document: Document, name: string, refused: Refused): unknown {
  try {
    return document.toJS({ maxAliasCount: 100 });
  } catch {
    throw refused(`${name} is not valid YAML: an alias has no anchor, or there are too many aliases.`);
  }
}

export function parseJson(source: string, name: string, refused: Refused): unknown {
  try {
    return JSON.parse(source);
  } catch (cause) {
    const at = /position (\d+)/.exec((cause as Error).message)?.[1];
    const before = at === undefined ? [] : source.slice(0, Number(at)).split('\n');
    const where = at === undefined ? '' : ` at line ${before.length}, column ${before.at(-1)!.length + 1}`;
    throw refused(`${name} is not valid JSON${where}.`);
  }
}
