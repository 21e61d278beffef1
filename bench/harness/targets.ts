/** A limit for speed or size: an upper one, or a lower one with `isAtLeast`. */
export type Target = { limit: number; unit: string; isAtLeast?: boolean }

/** What we promise on two cores with the client on the same machine. The only place for these numbers. */
export const targets = {
  ingestProtobuf: { limit: 30_000, unit: 'spans/s', isAtLeast: true },
  /** Including the time until everything is in the store. */
  ingestStored: { limit: 25_000, unit: 'spans/s', isAtLeast: true },
  ingestJson: { limit: 15_000, unit: 'spans/s', isAtLeast: true },
  acknowledgeP99At10k: { limit: 20, unit: 'ms' },
  acknowledgeP99At20k: { limit: 40, unit: 'ms' },
  /** Processor time of a span: the server's and the engine's until it is stored, and the engine's for its words. */
  serverPerSpan: { limit: 28, unit: 'µs' },
  enginePerSpan: { limit: 28, unit: 'µs' },
  wordsPerSpan: { limit: 30, unit: 'µs' },
  /** Both. While the store keeps up, words are collected meanwhile. */
  enginePerSpanWithWords: { limit: 58, unit: 'µs' },
  visibleIdleP50: { limit: 30, unit: 'ms' },
  visibleIdleP95: { limit: 300, unit: 'ms' },
  visibleBusy: { limit: 2_000, unit: 'ms' },
  /** Including the text index, which is always on. */
  bytesPerSpan: { limit: 650, unit: 'bytes' },
  firstResponse: { limit: 600, unit: 'ms' },
  memoryIdle: { limit: 300, unit: 'MB' },
  memoryBusy: { limit: 1_100, unit: 'MB' },
  lostSpans: { limit: 0, unit: 'spans' },
  /** What 1,000 connections without a key may cost: memory, and the acknowledgements of who has one. */
  siegeMemory: { limit: 150, unit: 'MB' },
  siegeRatio: { limit: 2, unit: '×' },
  /** 500 live viewers. */
  viewersRatio: { limit: 2, unit: '×' },
  /** What 100 rules of monitors may cost senders. */
  rulesIngestShare: { limit: 5, unit: '%' },
  /** Over 30 days of a million sessions. */
  monitorPreview: { limit: 1_000, unit: 'ms' },
  /** While someone drags the playhead over 10,000 steps. A frame of a 60 Hz screen takes 16.7 ms. */
  dragFrameP95: { limit: 17, unit: 'ms' },
  dragFrames: { limit: 58, unit: 'per second', isAtLeast: true },
  /** From the address to the failing step on the screen, for 100,000 steps. */
  longSessionOpened: { limit: 1_000, unit: 'ms' },
  longSessionMemory: { limit: 500, unit: 'MB' },
  openSessionP95: { limit: 40, unit: 'ms' },
  listUnfilteredP95: { limit: 20, unit: 'ms' },
  listFilteredP95: { limit: 60, unit: 'ms' },
  dailyStatsP95: { limit: 100, unit: 'ms' },
  /** From clicking a link to rows on the screen, with filters, for a million sessions. */
  listPainted: { limit: 1_000, unit: 'ms' },
  /** The cost of recording a step, relative to OpenTelemetry's own batch processor and exporter in the same run. */
  recordingRatio: { limit: 1, unit: '×' },
  /** How long `init()` may block a program that starts. */
  init: { limit: 30, unit: 'ms' },
  firstTokenAdded: { limit: 1, unit: '%' },
  reporterShare: { limit: 5, unit: '%' },
  reportSize: { limit: 20, unit: 'MB' },
  reportOpened: { limit: 2_000, unit: 'ms' },
  /** Shares of labelled runs in which the first suspect is the step, or its agent, that people blame. */
  blameGeneratedExact: { limit: 45, unit: '%', isAtLeast: true },
  blameGeneratedTop3: { limit: 80, unit: '%', isAtLeast: true },
  blameGeneratedAgent: { limit: 62, unit: '%', isAtLeast: true },
  blameCraftedExact: { limit: 22, unit: '%', isAtLeast: true },
  blameCraftedAgent: { limit: 58, unit: '%', isAtLeast: true },
  blameRetailExact: { limit: 40, unit: '%', isAtLeast: true },
  blameRetailNear: { limit: 60, unit: '%', isAtLeast: true },
  plantedFirst: { limit: 95, unit: '%', isAtLeast: true },
  healthySuspects: { limit: 2, unit: '%' },
  /** Processor time for the findings of a session of 10,000 steps. */
  longSession: { limit: 300, unit: 'ms' },
  leakedSecrets: { limit: 0, unit: 'leaked' },
  alteredInnocents: { limit: 0, unit: 'altered' },
  /** The longest that a megabyte of hostile text may block the process. */
  hostileMegabyte: { limit: 1_000, unit: 'ms' },
} as const satisfies Record<string, Target>

/** Targets that depend on how many spans the store has. */
export const targetsBySize = {
  openSessionP50: bySize('ms', { 20_000: 10, 1_000_000: 12, 10_000_000: 15 }),
  listUnfilteredP50: bySize('ms', { 20_000: 7, 10_000_000: 10 }),
  textSearchP95: bySize('ms', { 1_000_000: 60, 10_000_000: 80 }),
} as const

/** The limit of the smallest size that the store does not exceed. */
function bySize(unit: string, limits: Readonly<Record<number, number>>): (spans: number) => Target {
  const sizes = Object.keys(limits).map(Number)
  return (spans) => ({ limit: limits[sizes.find((size) => spans <= size) ?? Math.max(...sizes)]!, unit })
}

export function isMet(target: Target, figure: number): boolean {
  return target.isAtLeast === true ? figure >= target.limit : figure <= target.limit
}
