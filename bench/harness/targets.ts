/** A limit for speed or size: an upper one, or a lower one with `isAtLeast`. */
export type Target = { limit: number; unit: string; isAtLeast?: boolean }

/** What we promise on two cores with the client on the same machine. The only place for these numbers. */
export const targets = {
  ingestProtobuf: { limit: 30_000, unit: 'spans/s', isAtLeast: true },
  ingestJson: { limit: 15_000, unit: 'spans/s', isAtLeast: true },
  acknowledgeP99: { limit: 25, unit: 'ms' },
  visibleIdle: { limit: 300, unit: 'ms' },
  visibleBusy: { limit: 2_000, unit: 'ms' },
  /** Including the text index, which is always on. */
  bytesPerSpan: { limit: 650, unit: 'bytes' },
  firstResponse: { limit: 1_000, unit: 'ms' },
  memoryIdle: { limit: 400, unit: 'MB' },
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
  openSessionP50: { limit: 20, unit: 'ms' },
  openSessionP95: { limit: 40, unit: 'ms' },
  listUnfilteredP95: { limit: 20, unit: 'ms' },
  listFilteredP95: { limit: 60, unit: 'ms' },
  dailyStatsP95: { limit: 100, unit: 'ms' },
  textSearchP95: { limit: 60, unit: 'ms' },
  /** From clicking a link to rows on the screen, with filters, for a million sessions. */
  listPainted: { limit: 1_000, unit: 'ms' },
  /** The cost of recording a step, relative to OpenTelemetry's own batch processor and exporter in the same run. */
  recordingRatio: { limit: 1.3, unit: '×' },
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

export function isMet(target: Target, figure: number): boolean {
  return target.isAtLeast === true ? figure >= target.limit : figure <= target.limit
}
