import type { Terminal } from './terminal.ts'
import { cutToWidth, textWidth } from './printable-text.ts'

export type Column<Row> = {
  title: string
  /** What the cell says, without colour. */
  text(row: Row): string
  /** Colours the cell; `text` may have been cut. */
  paint?(text: string, row: Row): string
  align?: 'right'
  /** May be cut down to this many columns. */
  shrinksTo?: number
  /** Left out when there is no room; the smallest number goes first. */
  dropOrder?: number
}

const GAP = '  '

/** A table that fits the terminal: long texts are cut, then the least important columns are left out. */
export function renderTable<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  { width, paint }: Pick<Terminal, 'width' | 'paint'>,
): string {
  const fitted = fitColumns(columns, rows, width)
  const head = fitted.map(({ column, width: room }) => paint('dim', align(column, column.title, room)))
  const lines = rows.map((row) => renderRow(fitted, row))
  return [head.join(GAP), ...lines].map((line) => line.trimEnd()).join('\n')
}

type FittedColumn<Row> = { column: Column<Row>; width: number }

function fitColumns<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  width: number,
): FittedColumn<Row>[] {
  let fitted = columns.map((column) => ({ column, width: naturalWidth(column, rows) }))
  for (;;) {
    shrink(fitted, width)
    if (totalWidth(fitted) <= width) return fitted
    const droppable = fitted.filter(({ column }) => column.dropOrder !== undefined)
    const [first] = droppable.sort((left, right) => left.column.dropOrder! - right.column.dropOrder!)
    if (first === undefined) return fitted
    fitted = fitted
      .filter((one) => one !== first)
      .map(({ column }) => ({ column, width: naturalWidth(column, rows) }))
  }
}

/** Takes what is too much from the widest columns that may be cut. */
function shrink<Row>(fitted: readonly FittedColumn<Row>[], width: number): void {
  for (let excess = totalWidth(fitted) - width; excess > 0; excess -= 1) {
    const shrinkable = fitted.filter((one) => one.width > (one.column.shrinksTo ?? Infinity))
    const [first, ...others] = shrinkable
    if (first === undefined) return
    const widest = others.reduce((widest, one) => (one.width > widest.width ? one : widest), first)
    widest.width -= 1
  }
}

function naturalWidth<Row>(column: Column<Row>, rows: readonly Row[]): number {
  return rows.reduce((width, row) => Math.max(width, textWidth(column.text(row))), column.title.length)
}

function totalWidth(fitted: readonly { width: number }[]): number {
  return fitted.reduce((total, { width }) => total + width, 0) + GAP.length * Math.max(0, fitted.length - 1)
}

function renderRow<Row>(fitted: readonly FittedColumn<Row>[], row: Row): string {
  const cells = fitted.map(({ column, width }) => {
    const text = cutToWidth(column.text(row), width)
    const painted = column.paint === undefined ? text : column.paint(text, row)
    return pad(painted, width - textWidth(text), column.align)
  })
  return cells.join(GAP)
}

function align<Row>(column: Column<Row>, text: string, width: number): string {
  const cut = cutToWidth(text, width)
  return pad(cut, width - textWidth(cut), column.align)
}

function pad(text: string, missing: number, alignment: 'right' | undefined): string {
  const space = ' '.repeat(Math.max(0, missing))
  return alignment === 'right' ? space + text : text + space
}
