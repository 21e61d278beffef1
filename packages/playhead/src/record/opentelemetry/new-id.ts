const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))
const BYTES = 4

/** 32 hex digits, never all zero. */
export function newTraceId(): string {
  return newSpanId() + newSpanId()
}

/** 16 hex digits, never all zero. */
export function newSpanId(): string {
  const id = fourBytes() + fourBytes()
  return id === '0000000000000000' ? newSpanId() : id
}

function fourBytes(): string {
  const random = (Math.random() * 2 ** (8 * BYTES)) >>> 0
  return HEX[random >>> 24]! + HEX[(random >>> 16) & 255]! + HEX[(random >>> 8) & 255]! + HEX[random & 255]!
}
