import { Random } from '../../../bench/corpus/random.ts'
import { checkDigit } from '../../../packages/playhead/test/redaction/planted-secrets.ts'

/** Names that redaction knows, or nearly: each spelling and each ending. */
export const names: readonly string[] = split(
  'password|dbPassword|passwd|passphrase|PASSWORD|api_key|apiKey|API-KEY|api_token|access_key|AccessKeyId',
  'access_key-id|access-token|authToken|bearer_token|refreshToken|session-token|csrf_token|XSRF-TOKEN|id_token',
  'secret|secret_key|client_secret|private-key|authorization|Proxy-Authorization|x-api-key|Cookie|set-cookie',
  'token|pwd|cvv|CVC|auth|credentials|card_number|cardNumber|c_v_v|key|keyid|pass|number|max_tokens|tokens',
  'ssn|SSN|s_s_n|customer-name|customerName|customer|user.token|a.ssn|api\u00a0key|Tokén',
)

/** What redaction knows, and what changes its mind. No emoji: each is two characters to JavaScript. */
const pieces: readonly (readonly string[])[] = [
  names,
  names.map((name) => `"${name}"`),
  names.map((name) => `{'${name}'`),
  names.map((name) => `\n${name}: `),
  names.map((name) => `&${name}=`),
  names.map((name) => `["${name}", "`),
  names.map((name) => `"${name}":["a=b","c\\"d", "", 'e',`),
  split(`:|=|,|: | = |==|=>|":"|":|": |': '|","|", "|":["|='|="|:    `),
  split(`"|'|\\"|\\\\\\"|\\|\\\\|{"|"}|{|}|[|]|["|"]|(|)|<|>|$`),
  split(' |  |    |\t|\n|\r\n|\\n|\\t|\\u00fc|\u00a0|\ufeff|\u2028|\u001c|\u0085'),
  split('.|,|;|&|?|-|_|/|@|#|%|*|密|ü|: 密|| |\n| and |", "'),
  split(
    'hunter2|abc|a b|null|true|123|-1.5e3|0|a1b2c|a1b2c3|process.env.KEY|getKey(|${KEY}|<your key>|{{key}}',
  ),
  split('correctHorse|correctHors|correct-horse|wJal1/K7+x|a=b; c=d|word'),
  split('Bearer |bearer |BEARER  |basic |Basic     |BASIC '),
  split(
    '-----BEGIN RSA PRIVATE KEY-----|-----END RSA PRIVATE KEY-----|-----BEGIN PGP PRIVATE KEY BLOCK-----',
  ),
  split(`://|:\\/\\/|://ada:|https://ada:|@db|eyJ|eyJhbGciOiJIUzI1NiJ9.|eyJhbGciOiJIUzI1NiJ9..`),
  split('4111 1111 1111 1111|3782 822463 10005|4|41|1111|42 | 12/27|0.|.5|1111 1111 1111|4222222222222'),
  split('INV-12345678|\nINV-12345678|INV-1234567'),
]
const prefixes = split(
  'sk-|sk-proj-|rk_live_|sk_test_|pk_live_|whsec_|ghp_|gho_|ghs_|ghu_|ghr_|github_pat_|glpat-|npm_|gsk_|hf_|r8_',
  'fw_|pcsk_|lsv2_pt_|lsv2_sk_|xai-|pplx-|tvly-dev-|AKIA|ASIA|AIza|ya29.|GOCSPX-|SG.|xoxb-|xoxs-|xapp-1-|ph_',
)
const alphabets = split('abcdefghijklmnop|ABCDEFGHIJ0123456789|abcABC012|abcABC012-_|abc-|aB0.-|0123456789')

const issuers = split(
  '4|51|55|2221|2720|271|23|37|34|305|36|39|6011|644|65|62|81|3528|358|50|57|60|1|9|2220|70',
)
const layouts = [
  [4, 4, 4, 4, 3],
  [4, 4, 4, 4],
  [4, 6, 5],
  [4, 6, 4],
  [4, 4, 5],
  [19],
  [4, 4],
  [3, 3, 3, 3, 3],
]

/** Texts without any sense, which two implementations take for the same only if they are the same. */
export function patchworkTexts(seed: number, count: number): string[] {
  const random = new Random(seed)
  return Array.from({ length: count }, () => {
    let text = Array.from({ length: random.between(1, 12) }, () => pieceOf(random)).join('')
    for (let depth = random.skewed(0, 4); depth > 0; depth -= 1) text = JSON.stringify({ a: text, n: 1 })
    return random.chance(0.1) ? text.slice(0, random.below(text.length)) : text
  })
}

function pieceOf(random: Random): string {
  const kind = random.below(20)
  if (kind < 3) return token(random)
  if (kind < 5) return card(random)
  if (kind < 6)
    return random.pick(['\\', ' ', '\t', ',', '.', 'a', 'aB', '1', '4 ']).repeat(random.skewed(1, 450))
  return random.pick(random.pick(pieces))
}

function token(random: Random): string {
  const alphabet = random.pick(alphabets)
  const body = Array.from({ length: random.between(4, 64) }, () => alphabet[random.below(alphabet.length)])
  return random.pick(prefixes) + body.join('')
}

/** Groups of digits, the last of which is most often right. */
function card(random: Random): string {
  const sizes = random.pick(layouts)
  const length = sizes.length === 1 ? random.between(12, 21) : sizes.reduce((sum, size) => sum + size)
  const body = random.pick(issuers) + String(random.below(1e9)).padStart(length, String(random.below(1e9)))
  const digits =
    body.slice(0, length - 1) + (random.chance(0.8) ? checkDigit(body.slice(0, length - 1)) : '0')
  const separator = random.pick([' ', ' ', '-', '\u00a0', '\u2013', ''])
  let from = 0
  return sizes.length === 1 ? digits : sizes.map((size) => digits.slice(from, (from += size))).join(separator)
}

function split(...lists: string[]): string[] {
  return lists.flatMap((list) => list.split('|'))
}
