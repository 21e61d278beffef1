import { describeValue, type Evidence, type ForkEdit } from '@playhead/model'

/** "With result "c_42" 5 of 5 pass; unchanged 0 of 5, p = 0.008". */
export function describeEvidence({ edit, passed, total, control, p }: Evidence): string {
  const changed = `With ${describeEdit(edit)} ${passed} of ${total} pass`
  if (control.total === 0) return changed
  const luck = p === null ? '' : p < 0.001 ? ', p < 0.001' : `, p = ${Number(p.toFixed(3))}`
  return `${changed}; unchanged ${control.passed} of ${control.total}${luck}`
}

const names: Record<keyof ForkEdit, string> = {
  result: 'result',
  args: 'arguments',
  system: 'system prompt',
  prompt: 'message',
  model: 'model',
}

const VALUE_WIDTH = 60

/** "result "c_42"", "model "gpt-5" and another system prompt". */
export function describeEdit(edit: ForkEdit): string {
  const parts = (Object.keys(names) as (keyof ForkEdit)[]).flatMap((name) => {
    const value = edit[name]
    if (value === undefined) return []
    if (name === 'system' || name === 'prompt') return [`another ${names[name]}`]
    return [`${names[name]} ${describeValue(value, VALUE_WIDTH)}`]
  })
  return parts.length === 0 ? 'an unknown change' : parts.join(' and ')
}
