import { cutToWidth, textWidth } from './printable-text.ts'
import type { Terminal } from './terminal.ts'

export type Column<Row> = {
  title: string
  /** The cell's text, without colour. */
  text(row: Row): string
  /** Colours the cell; `text` may be truncated. */
  paint?(text: string, row: Row): string
  align?: 'right'
  /** The narrowest this column may get; it keeps its full width when omitted. */
  minWidth?: number
  /** Dropped when the table is too wide; the smallest number goes first. */
  dropOrder?: number
}

const GAP = '  '

/** Renders a table that fits the terminal: truncates long cells, then drops the least important columns. */
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

/** Narrows the widest shrinkable columns until the table fits. */
function shrink<Row>(fitted: readonly FittedColumn<Row>[], width: number): void {
  for (let excess = totalWidth(fitted) - width; excess > 0; excess -= 1) {
    const shrinkable = fitted.filter((one) => one.width > (one.column.minWidth ?? Infinity))
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
