type Rule = { attributes: readonly string[]; inside: readonly string[]; hasText?: boolean }

/** Allowed children and required attributes, following the schema Jenkins uses for JUnit files. */
const rules: Record<string, Rule> = {
  testsuites: { attributes: ['name', 'tests', 'failures', 'errors', 'time'], inside: ['testsuite'] },
  testsuite: {
    attributes: ['name', 'timestamp', 'hostname', 'tests', 'failures', 'errors', 'skipped', 'time'],
    inside: ['testcase'],
  },
  testcase: { attributes: ['classname', 'name', 'time'], inside: ['failure', 'skipped', 'system-out'] },
  failure: { attributes: ['message', 'type'], inside: [], hasText: true },
  skipped: { attributes: ['message'], inside: [] },
  'system-out': { attributes: [], inside: [], hasText: true },
}

const token = /<\?xml[^>]*\?>|<(\/?)([\w-]+)((?:\s+[\w-]+="[^"<]*")*)\s*(\/?)>|([^<]+)/gy

/** Validates a JUnit file strictly and returns its counts. */
export function checkJunit(xml: string): { tests: number; failures: number; skipped: number } {
  const open: string[] = []
  const counts = { testcase: 0, failure: 0, skipped: 0 }
  let position = 0
  for (const match of xml.matchAll(token)) {
    const [whole, close, name, attributes = '', isEmpty, text] = match
    if (match.index !== position)
      throw new Error(`unreadable at ${position}: ${xml.slice(position, position + 60)}`)
    position += whole.length
    if (text !== undefined) checkText(text, open.at(-1))
    if (name === undefined) continue
    if (close === '/') {
      if (open.pop() !== name) throw new Error(`</${name}> closes another element`)
      continue
    }
    checkElement(name, attributes, open.at(-1))
    if (name in counts) counts[name as keyof typeof counts] += 1
    if (isEmpty !== '/') open.push(name)
  }
  if (position !== xml.length || open.length > 0) throw new Error(`not closed: ${open.join(', ')}`)
  const [, tests, failures] = /<testsuites name="[^"]*" tests="(\d+)" failures="(\d+)"/.exec(xml) ?? []
  if (Number(tests) !== counts.testcase || Number(failures) !== counts.failure)
    throw new Error('wrong counts')
  return { tests: counts.testcase, failures: counts.failure, skipped: counts.skipped }
}

function checkElement(name: string, attributes: string, parent: string | undefined): void {
  const rule = rules[name]
  const isAllowed =
    parent === undefined ? name === 'testsuites' : rules[parent]?.inside.includes(name) === true
  if (rule === undefined || !isAllowed) throw new Error(`<${name}> may not be in <${parent}>`)
  const given = [...attributes.matchAll(/([\w-]+)="([^"]*)"/g)].map(([, key, value]) => {
    checkText(value!, 'failure')
    return key
  })
  if (
    given
      .map(String)
      .toSorted((a, b) => a.localeCompare(b))
      .join() !== rule.attributes.toSorted((a, b) => a.localeCompare(b)).join()
  )
    throw new Error(`<${name}> has ${given.join(', ')}, not ${rule.attributes.join(', ')}`)
}

function checkText(text: string, parent: string | undefined): void {
  if (parent === undefined || rules[parent]?.hasText !== true) {
    if (text.trim() !== '') throw new Error(`text in <${parent}>: ${text}`)
    return
  }
  if (/&(?!(?:amp|lt|gt|quot|apos);)/.test(text)) throw new Error(`a bare & in ${text}`)
  // oxlint-disable-next-line no-control-regex
  if (/[\u0000-\u0008\u000B\u000C\u000E-\u001F]/.test(text))
    throw new Error('a character that XML can not hold')
}
