import type { Column, Columns, ColumnType, ValueOf } from '../log/native-block.ts'

/** A row as JSONEachRow returns it. */
export type JsonRow = Readonly<Record<string, unknown>>

/** Parses a column that holds a JSON object. Throws if it holds anything else. */
export function parseObject(text: string): Record<string, unknown> {
  const value: unknown = JSON.parse(text)
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new TypeError('a column must hold a JSON object, and holds another value')
  return value as Record<string, unknown>
}

/** As `parseObject`, for a list of objects. */
export function parseList(text: string): object[] {
  const value: unknown = JSON.parse(text)
  if (!Array.isArray(value) || value.some((item) => typeof item !== 'object' || item === null))
    throw new TypeError('a column must hold a JSON list of objects, and holds another value')
  return value as object[]
}

/** A field that fills one column as it is. Where the field is missing, the column holds `absent`. */
type OwnColumn<Value> = {
  [Type in ColumnType]: Exclude<Value, undefined> extends ValueOf<Type>
    ? { readonly column: string; readonly type: Type } & (undefined extends Value
        ? { readonly absent: ValueOf<Type> }
        : { readonly absent?: undefined })
    : never
}[ColumnType]

/** A field that has to be converted, or that fills several columns. */
type ConvertedField<Whole> = {
  readonly columns: Columns<Whole>
  readonly read: (row: JsonRow, whole: Whole) => void
}

/** How each field of an object is stored. A string marks a field that the table stores in another way. */
export type FieldMap<Whole, Elsewhere extends string> = {
  readonly [Field in keyof Whole]-?: OwnColumn<Whole[Field]> | ConvertedField<Whole> | Elsewhere
}

/** Derives from a field map the columns that hold an object (`of` a row), and how to read it back from a row. */
export function storedFields<Row, Whole>(
  fields: FieldMap<Whole, string>,
  of: (row: Row) => Whole,
): { columns: Columns<Row>; read: (row: JsonRow, whole: Whole) => void } {
  const columns: Record<string, Column<Row>> = {}
  const readers: ((row: JsonRow, whole: Whole) => void)[] = []
  for (const field of Object.keys(fields) as (keyof Whole)[]) {
    const stored = fields[field] as string | ConvertedField<Whole> | AnyColumn
    if (typeof stored === 'string') continue
    const { columns: own, read } = 'columns' in stored ? stored : ownColumn<Whole>(field, stored)
    for (const [name, { type, value }] of Object.entries(own))
      columns[name] = { type, value: (row: Row) => value(of(row)) } as Column<Row>
    readers.push(read)
  }
  return {
    columns,
    read(row, whole) {
      for (const read of readers) read(row, whole)
    },
  }
}

type AnyColumn = { column: string; type: ColumnType; absent?: unknown }

function ownColumn<Whole>(field: keyof Whole, { column, type, absent }: AnyColumn): ConvertedField<Whole> {
  const canBeEmpty = typeof absent === 'object' && absent !== null
  const value = (whole: Whole) => {
    const own = whole[field]
    return own === undefined ? absent : own
  }
  return {
    columns: { [column]: { type, value } as Column<Whole> },
    read(row, whole) {
      const stored = row[column]
      if (stored === absent || (canBeEmpty && Object.keys(stored as object).length === 0)) return
      whole[field] = stored as Whole[typeof field]
    },
  }
}

/** The JSON of attributes, by the object that was parsed from it. */
const storedTexts = new WeakMap<object, Buffer>()

/** Remembers the JSON that an object was parsed from, as UTF-8. Call it only for objects that nobody changes. */
export function noteStoredJson(value: object, text: Buffer): void {
  storedTexts.set(value, text)
}

/** The JSON of an object as it is stored, if that was noted: copying it takes a tenth of the time of writing it again. */
export function storedJsonOf(value: object): Buffer | undefined {
  return storedTexts.get(value)
}
