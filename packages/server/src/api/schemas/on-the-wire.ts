import type { z } from '@hono/zod-openapi'

/** The type of a response's JSON. An optional field is absent, never undefined. */
export type OnTheWire<Schema extends z.ZodType> = WithoutUndefined<z.output<Schema>>

type WithoutUndefined<Value> = Value extends object
  ? string extends keyof Value
    ? Value
    : { [Key in keyof Value]: WithoutUndefined<Exclude<Value[Key], undefined>> }
  : Value

/** `true` if both types have the same fields, at every depth. */
export type Same<Left, Right> = [Complete<Left>, Complete<Right>] extends [Complete<Right>, Complete<Left>]
  ? true
  : never

type Complete<Value> = Value extends string
  ? Value
  : Value extends object
    ? string extends keyof Value
      ? Value
      : { [Key in keyof Value]-?: Complete<Value[Key]> }
    : Value
