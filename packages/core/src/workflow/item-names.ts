/** A map `resize` makes the nodes `resize[0]`, `resize[1]` ..; no producer can give a node such a name. */
export const itemName = (map: string, place: number): string => `${map}[${place}]`;

export const isItemOf = (name: string, map: string): boolean => name.startsWith(`${map}[`) && name.endsWith(']');

export const placeOf = (name: string): number => Number(name.slice(name.lastIndexOf('[') + 1, -1));

/** The map that has made a node of this name; undefined: no map has. */
export const mapOf = (name: string): string | undefined =>
  name.endsWith(']') ? name.slice(0, Math.max(0, name.lastIndexOf('['))) || undefined : undefined;
