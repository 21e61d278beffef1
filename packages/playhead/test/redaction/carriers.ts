import { inspect } from 'node:util'
import type { Random } from '../../../../bench/corpus/random.ts'

/** The value around a secret: a text, or an object where only objects make sense. */
export type Carried = string | Record<string, unknown>

/** For secrets that are recognized by their format. */
export const textCarriers: Readonly<Record<string, (text: string, random: Random) => Carried>> = {
  'a sentence': (text) => `Please use ${text} for the deployment of tonight.`,
  'the end of a sentence': (text) => `I think it was ${text}.`,
  alone: (text) => text,
  'a line of its own': (text) => `It is in the second line:\n${text}\r\nand not in the third.`,
  'a table': (text) => `name\tvalue\t\n\t${text}\tproduction`,
  'a list': (text) => `first,${text},last`,
  brackets: (text) => `the caller (${text}) was refused [${text}]`,
  quotes: (text) => `he said "${text}" and '${text}'`,
  'a code block': (text) => `Try this:\n\`\`\`sh\nexport VALUE=${text}\n\`\`\`\nor \`${text}\``,
  'a shell': (text) => `export VALUE="${text}" && ./run.sh '${text}'`,
  'a log line': (text) => `2026-11-15T10:00:00.123Z WARN [auth] refused value=${text} status=401 took=12ms`,
  'before a number': (text) => `${text} 12/27 123, then 42`,
  'other writing': (text) => `密钥：${text}。 Ключ: ${text} 🔑${text}🔑 größe\u00a0${text}`,
  'an object': (text) => ({ user: { id: 7, notes: ['none', { seen: `\n${text}` }] } }),
  'a list in an object': (text) => ({ lines: ['one', text, `two ${text}`], count: 3 }),
  'a stringified object': (text) => JSON.stringify({ note: `line\n${text}\n`, ok: true }),
  'a twice stringified object': (text) => JSON.stringify({ body: JSON.stringify({ note: `line\n${text}` }) }),
  'an escaped text of Python': (text) => `{"note": "gr\\u00fc${JSON.stringify(text).slice(1, -1)}\\u00fc"}`,
  'a key of an object': (text) => ({ [text]: true }),
  'a stack': (text) =>
    `Error: refused ${text}\n    at connect (file:///app/db.js:12:5)\n    at main (app.js:1:1)`,
}

/** For values that are recognized by their key. */
export const namedCarriers: Readonly<Record<string, (name: string, value: string) => Carried>> = {
  'an object': (name, value) => ({ user: 'ada', settings: [{ [name]: value, retries: 3 }] }),
  'a stringified object': (name, value) => JSON.stringify({ [name]: value, retries: 3 }),
  'a stringified object with spaces': (name, value) => JSON.stringify({ a: 1, [name]: value }, undefined, 2),
  'a twice stringified object': (name, value) => JSON.stringify({ body: JSON.stringify({ [name]: value }) }),
  'an object in a sentence': (name, value) => `It answered {"ok":true,"${name}":"${value}"} and hung up.`,
  'an environment file': (name, value) => `# local\nPORT=80\n${name}=${value}\nHOST=a`,
  'a quoted environment file': (name, value) => `PORT=80\nexport ${name}="${value}"\n${name}='${value}'`,
  'an ini file': (name, value) => `[default]\nregion = eu\n${name} = ${value}\n`,
  'a YAML file': (name, value) => `server:\n  port: 80\n  ${name}: ${value}\n  other: "${name}"`,
  'a quoted YAML file': (name, value) => `server:\n  ${name}: "${value}"\n  ${name}: '${value}'`,
  'a query': (name, value) => `GET https://api.test/v1/items?page=1&${name}=${value}&limit=10 failed`,
  'a form': (name, value) => `${name}=${value}&grant_type=password`,
  'an argument': (name, value) => `run --verbose --${name}=${value} --port 80`,
  'a call in code': (name, value) => `client = Client(${name}="${value}", retries=3); f(${name}=${value})`,
  'a printed object': (name, value) => `failed with ${inspect({ [name]: value, retries: 3 })}`,
  'a printed dictionary': (name, value) => `failed with {'${name}': '${value}', 'retries': 3}`,
}

/** HTTP headers, as quoted in errors and logs. */
export const headerCarriers: Readonly<Record<string, (value: string) => Carried>> = {
  'authorization line': (value) =>
    `GET / HTTP/1.1\r\nHost: api.test\r\nAuthorization: Bearer ${value}\r\n\r\n`,
  'other scheme': (value) => `> authorization: ApiKey ${value}\n> accept: */*`,
  'key line': (value) => `curl -H "x-api-key: ${value}" https://api.test/v1`,
  'cookie line': (value) => `Cookie: theme=dark; sid=${value}; lang=en\nAccept: */*`,
  'set-cookie line': (value) => `HTTP/1.1 200 OK\nSet-Cookie: sid=${value}; Path=/; HttpOnly\n`,
  'object of headers': (value) => ({
    headers: { Authorization: `Bearer ${value}`, 'set-cookie': [`sid=${value}`] },
  }),
  'stringified headers': (value) => JSON.stringify({ headers: { authorization: `Token ${value}` } }),
  'list of pairs': (value) => JSON.stringify([['authorization', `Bearer ${value}`]]),
}
