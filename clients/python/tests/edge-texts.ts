/** At the bounds of what is looked at, and one on each side. */
export const edgeTexts: readonly string[] = [
  around(9, (length) => '"pwd":"'.padEnd(length, 'a')),
  around(16, (length) => `sk-${'a'.repeat(length)}`),
  around(40, (length) => `sk-${'a-'.repeat(length).slice(0, length)}0`),
  around(40, (length) => `xai-${'-'.repeat(length)}${'A'.repeat(24)}`),
  around(
    16,
    (length) => `SG.${'a'.repeat(length)}.${'b'.repeat(16)} SG.${'a'.repeat(16)}.${'b'.repeat(length)}`,
  ),
  around(
    8,
    (length) => `eyJ${'a'.repeat(length)}.${'b'.repeat(8)} eyJ${'a'.repeat(8)}.${'b'.repeat(length)}`,
  ),
  around(4, (length) => `Bearer${' '.repeat(length)}abcdefghijklmnop1`),
  around(60, (length) => `Bearer ${'a'.repeat(length)}1`),
  around(100, (length) => `://${'a'.repeat(length)}:hunter2@db`),
  around(200, (length) => `://:${'a'.repeat(length)}@db`),
  around(40, (length) => `-----BEGIN ${'A'.repeat(length)}PRIVATE KEY-----\nMIIE`),
  around(20_000, (length) => `-----BEGIN PRIVATE KEY-----${'a'.repeat(length)}-----END PRIVATE KEY-----`),
  around(64, (length) => `password${'\\'.repeat(length)}"=hunter2 "pwd${'\\'.repeat(length)}":1`),
  around(64, (length) => `"cookie${'\\'.repeat(length)}",${'\\'.repeat(length)}"a=b`),
  around(3, (length) => `api_key${' '.repeat(length)}: a1b2c3`),
  around(3, (length) => `["cookie"${' '.repeat(length)},"a=b"]`),
  around(24, (length) => `${'a'.repeat(length - 19)}-proxy-authorization: abc`),
  around(40, (length) => `"password":${' '.repeat(length)}"abc"`),
  around(40, (length) => `"password":["a",${' '.repeat(length)}"b"]`),
  around(400, (length) => `password: ${'a'.repeat(length)}`.padEnd(length + 10, 'B1')),
  around(400, (length) => `password: ${'a'.repeat(length - 1)}B`),
  around(
    19,
    (length) =>
      `4111111111111111, ${Array.from('4000000000000000006'.padEnd(length, '0').slice(0, length)).join(' ')}`,
  ),
  around(63, (length) => `${'1'.repeat(length)} 4111 1111 1111 1111`),
  around(64, (length) => `${'1 '.repeat(length - 16)}4111 1111 1111 1111`),
  // Letters that are S and K to who folds cases beyond ASCII.
  ['"pa\u017f\u017fword":"abc"', '"to\u212aen":"abc"', '"\u017f\u017fn":"abc"'],
].flat()

function around(bound: number, make: (length: number) => string): string[] {
  return [bound - 1, bound, bound + 1].map(make)
}
