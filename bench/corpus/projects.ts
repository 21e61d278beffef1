/** The spans are distributed evenly over these projects. */
export const projects = ['bench-one', 'bench-two', 'bench-three', 'bench-four'] as const

/** Sessions start at random times within these last days. */
export const SPREAD_DAYS = 30
export const DAY_MS = 86_400_000
