// A module whose handler is its default export, and answers its input.
export default (input: unknown): unknown => input;
