/** Any function, whatever it takes and gives. */
export type AnyFunction = (...args: never[]) => unknown
