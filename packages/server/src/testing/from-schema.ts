import fc, { type Arbitrary } from 'fast-check';
import { problems, type Schema } from './json-schema.ts';
import { resolve } from './openapi.ts';

const DEEPEST = 3;
/** Optional fields in one object, so that most of what is drawn meets no rule about two of them. */
const MOST_OPTIONAL = 4;
const MOST_ITEMS = 3;
const NAMES = fc.stringMatching(/^[a-z]{1,6}$/);

/** Values that the schema allows. */
export const fromSchema = (schema: Schema): Arbitrary<unknown> => drawn(schema, 0);

/** Made once each: to read a pattern costs more than to draw from it. */
const made = new Map<string, Arbitrary<unknown>>();

function drawn(schema: Schema, depth: number): Arbitrary<unknown> {
  const key = `${depth} ${JSON.stringify(schema)}`;
  const known = made.get(key) ?? draw(followed(schema), depth);
  made.set(key, known);
  return known;
}

/** What a reference leads to, with what stands beside it. */
function followed({ $ref, ...own }: Schema): Schema {
  return $ref === undefined ? own : { ...followed(resolve<Schema>($ref)), ...own };
}

function draw(schema: Schema, depth: number): Arbitrary<unknown> {
  if ('const' in schema) return fc.constant(schema.const);
  if (schema.enum) return fc.constantFrom(...schema.enum);
  // Only where nothing else can say what has a meaning.
  if (schema.examples) return fc.constantFrom(...schema.examples);
  const choices = schema.oneOf ?? schema.anyOf;
  if (choices && !isObject(schema)) {
    // The first is the one that does not contain itself.
    const open = depth > DEEPEST ? choices.slice(0, 1) : choices;
    return fc.oneof(...open.map((one) => drawn(one, depth + 1)));
  }
  if (isObject(schema)) return fc.oneof(...flattened(schema).map((way) => records(way, depth))).filter(isIn(schema));
  switch (schema.type) {
    case 'string':
      return texts(schema);
    case 'integer':
      return fc.integer({ min: schema.minimum ?? -1_000, max: schema.maximum ?? 1_000 });
    case 'number':
      return fc.double({ min: schema.minimum ?? -1e6, max: schema.maximum ?? 1e6, noNaN: true });
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    case 'array': {
      const { items = {}, minItems = 0, maxItems = MOST_ITEMS } = schema;
      return fc.array(drawn(items, depth + 1), { minLength: minItems, maxLength: Math.min(maxItems, MOST_ITEMS) });
    }
    default:
      return anything();
  }
}

const isObject = ({ type, properties, allOf }: Schema): boolean => type === 'object' || !!properties || !!allOf;

/** What the rules about several fields forbid is drawn and thrown away. */
const isIn =
  (schema: Schema) =>
  (value: unknown): boolean =>
    problems(schema, value, 'drawn', resolve).length === 0;

function records({ properties, required }: Fields, depth: number): Arbitrary<object> {
  const names = Object.keys(properties);
  if (names.length === 0) return fc.dictionary(NAMES, anything(), { maxKeys: 3 });
  const optional = names.filter((name) => !required.has(name));
  const pick = (some: readonly string[]) =>
    fc.record(
      Object.fromEntries([...required, ...some].map((name) => [name, drawn(properties[name] ?? {}, depth + 1)])),
    );
  return fc.subarray(optional, { maxLength: Math.min(MOST_OPTIONAL, optional.length) }).chain(pick);
}

interface Fields {
  properties: Record<string, Schema>;
  required: Set<string>;
}

/** The fields of an object in each way that its `oneOf` and `anyOf` offer, with those of everything that it refers to. */
function flattened(given: Schema): Fields[] {
  const schema = followed(given);
  const own: Fields = { properties: schema.properties ?? {}, required: new Set(schema.required) };
  let ways = [own];
  for (const part of schema.allOf ?? []) ways = crossed(ways, flattened(part));
  for (const choices of [schema.oneOf, schema.anyOf]) {
    if (choices) ways = crossed(ways, choices.flatMap(flattened));
  }
  return ways;
}

const crossed = (some: Fields[], others: Fields[]): Fields[] =>
  some.flatMap((one) =>
    others.map((other) => ({
      properties: { ...one.properties, ...other.properties },
      required: new Set([...one.required, ...other.required]),
    })),
  );

/** Numbers, texts, lists and objects, but for keys that JSON readers refuse to take. */
const anything = (): Arbitrary<unknown> =>
  fc.jsonValue({ maxDepth: 2 }).filter((value) => !JSON.stringify(value).includes('__proto__'));

function texts({ format, pattern, minLength = 0, maxLength = 40 }: Schema): Arbitrary<string> {
  if (format === 'date-time') {
    const days = fc.date({
      min: new Date('1972-01-01T00:00:00Z'),
      max: new Date('2248-12-31T00:00:00Z'),
      noInvalidDate: true,
    });
    return fc.oneof(
      days.map((day) => day.toISOString()),
      days.map((day) => day.toISOString().replace(/\.\d+Z$/, '+02:00')),
    );
  }
  if (pattern !== undefined) return fc.stringMatching(new RegExp(pattern)).filter((text) => text.length <= 8_000);
  const bounds = { minLength, maxLength: Math.min(maxLength, 40) };
  return fc.oneof(fc.string(bounds), fc.string({ ...bounds, unit: 'grapheme' }));
}
